"""A second process compiles, too: what it does is found, what it does not do is done here, and it never outlives its parent."""

import inspect
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from memetik.kernels.compiler import second_compiler
from memetik.kernels.compiler.second_compiler import DONE, HERE, THERE, WAITING, _Job, _Jobs
from memetik.kernels.search.closed_form_attempt import CLOSED_FORM_PARTS
from memetik.kernels.search.pose_search import POSE_PARTS
from memetik.kernels.search.stages import SEARCH_PARTS
from memetik.kernels.servo.tick import TICK_PARTS
from tests.conftest import COMPILED

pytestmark = pytest.mark.only_if(COMPILED, "compiled kernels")

BEGIN = """
import os, sys, time
from memetik.kernels.compiler import second_compiler
from memetik.kernels.compiler.function_pointers import address
from memetik.kernels.terms import pose
from memetik.kernels.terms.function_pointers import JACOBIAN, RESIDUAL
roots = [(pose.position_residual, RESIDUAL), (pose.position_jacobian, JACOBIAN)]
second_compiler.compile_ahead(roots)
process = second_compiler._jobs.process
child = process._process.pid if process else 0
def until_done():
    end = time.monotonic() + 120
    while second_compiler.standing()[0] < len(roots) and time.monotonic() < end:
        time.sleep(0.02)
"""


def python(code, cache, **environment):
    """Run Python with an empty cache, and with a second compiler although this is a worker of pytest-xdist."""
    env = {**os.environ, "MEMETIK_SECOND_COMPILER": "1", "MEMETIK_PREBUILT": "0", "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", BEGIN + code],
        env={**env, **environment}, capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


needs_two_cores = pytest.mark.only_if(second_compiler._cores() > 1, "two cores")


@needs_two_cores
def test_what_it_compiles_is_loaded_here(tmp_path):
    told = python(
        """
until_done()
compiled = [kernel for kernel, _ in roots if kernel.overloads]
addresses = [address(*root) for root in roots]
print(len(compiled), all(addresses), *(sum(kernel.stats.cache_hits.values()) for kernel, _ in roots))
""",
        tmp_path,
    )
    assert told == ["0", "True", "1", "1"]


@needs_two_cores
def test_it_starts_with_the_first_kernel_that_is_missing(tmp_path):
    """And not where the first is on disk: then most are."""
    code = """
from memetik.kernels.math.sincos import sincos
from numba.core import types
jobs = second_compiler._jobs = second_compiler._Jobs()  # as before anything was asked for
sincos.compile((types.float64,))
print(jobs.process is not None)
"""
    alone = BEGIN.replace("second_compiler.compile_ahead(roots)", "")
    begin = [sys.executable, "-c", alone + code]
    env = {**os.environ, "MEMETIK_SECOND_COMPILER": "1", "MEMETIK_PREBUILT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    told = [subprocess.run(begin, env=env, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert told == ["True\n", "False\n"]


def test_the_parts_that_are_named_are_those_that_are_copied(tmp_path):
    """For arguments of other types, the other process would compile in vain."""
    told = python(
        """
from memetik.kernels.search.closed_form_attempt import CLOSED_FORM_PARTS, attempt_closed_form
from memetik.kernels.search.pose_search import POSE_PARTS, solve_pose
from memetik.kernels.search.descent import attempt_softly
from memetik.kernels.search.stages import SEARCH_PARTS, search_stage
from memetik.kernels.problem.function_pointers import ATTEMPT, STAGE
for kernel in (solve_pose, attempt_closed_form, search_stage):
    kernel.compile(STAGE.args)
attempt_softly.compile(ATTEMPT.args)
named = dict.fromkeys((*POSE_PARTS, *CLOSED_FORM_PARTS, *SEARCH_PARTS))
print(all(list(kernel.part.overloads) == [arguments] for kernel, arguments in named))
""",
        tmp_path, MEMETIK_SECOND_COMPILER="0",
    )  # fmt: skip
    assert told == ["True"]


@pytest.mark.quick
@pytest.mark.parametrize("parts", [POSE_PARTS, CLOSED_FORM_PARTS, SEARCH_PARTS, TICK_PARTS])
def test_parts_are_named_with_a_type_for_each_argument(parts):
    for kernel, arguments in parts:
        assert len(inspect.signature(kernel.py_func).parameters) == len(arguments)


@pytest.mark.quick
def test_what_may_be_needed_later_waits_for_all_that_is_needed():
    jobs = _Jobs()
    kernel = SimpleNamespace(overloads={})
    first, second, later = (_Job(kernel, (name,)) for name in ("first", "second", "later"))
    later.is_later = True
    jobs.all = {job.arguments: job for job in (first, second, later)}
    part = _Job(kernel, ("part",))
    second.parts, part.state = [part], HERE
    assert jobs.for_the_other() is first
    threading.Timer(0.05, jobs.done, [part]).start()  # until then there is nothing for it to do
    assert jobs.for_the_other() is second
    assert jobs.for_the_other() is later
    assert jobs.standing()[1] == 2


@needs_two_cores
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_without_it_everything_is_compiled_here(tmp_path):
    """It is killed while it works, and leaves no zombie."""
    told = python(
        """
import signal
assert child
os.kill(child, signal.SIGKILL)
print(all(address(*root) for root in roots), [sum(kernel.stats.cache_misses.values()) for kernel, _ in roots])
end = time.monotonic() + 60
while second_compiler._jobs.process is not None and time.monotonic() < end:
    time.sleep(0.02)
try:
    os.kill(child, 0)
except ProcessLookupError:
    print("gone")
""",
        tmp_path,
    )
    assert told == ["True", "[1,", "1]", "gone"]


@needs_two_cores
@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_copy_of_this_process_has_none(tmp_path):
    told = python(
        """
copy = os.fork()
if copy == 0:
    fine = second_compiler._jobs.process is None and all(address(*root) for root in roots)
    os._exit(0 if fine else 1)
print(os.waitpid(copy, 0)[1])
""",
        tmp_path,
        PYTHONWARNINGS="ignore::DeprecationWarning",  # later versions of Python warn of copies of what has threads
    )
    assert told == ["0"]


@needs_two_cores
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_ends_with_its_parent_however_that_ends(tmp_path):
    env = {**os.environ, "MEMETIK_SECOND_COMPILER": "1", "MEMETIK_PREBUILT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    code = BEGIN + "print(child, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        assert child and is_running(child)
        parent.kill()
    end = time.monotonic() + 60
    while is_running(child):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert not list(tmp_path.rglob("*.tmp.*"))


def is_running(process):
    """Where nobody waits for orphans, as in some containers, one that has ended stays as a zombie."""
    stat = Path(f"/proc/{process}/stat")
    if stat.exists():
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


@needs_two_cores
def test_there_is_one_for_each_cache(tmp_path):
    """Two processes that begin together, as the ranks of a cluster do."""
    env = {**os.environ, "MEMETIK_SECOND_COMPILER": "1", "MEMETIK_PREBUILT": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    begin = [sys.executable, "-c", BEGIN + "print(child, flush=True); sys.stdin.read()"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(begin, env=env, **pipes) as one:
        first = int(one.stdout.readline())
        with subprocess.Popen(begin, env=env, **pipes) as other:
            second = int(other.stdout.readline())
            other.communicate("")
        one.communicate("")
    assert first > 0 and second == 0


@pytest.mark.parametrize(
    "environment",
    [{"MEMETIK_SECOND_COMPILER": "0"}, {"MEMETIK_SECOND_COMPILER": "", "PYTEST_XDIST_WORKER": "gw0"}],
)
def test_it_can_be_done_without(tmp_path, environment):
    assert python("print(child)", tmp_path, **environment) == ["0"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("program", "cores", "fine"), [("python3", 2, True), ("python3", 1, False), ("blender", 2, False)]
)
def test_another_program_with_python_inside_is_not_started_again(monkeypatch, program, cores, fine):
    monkeypatch.setattr(sys, "executable", f"/usr/bin/{program}")
    monkeypatch.setattr(second_compiler, "_cores", lambda: cores)
    monkeypatch.setenv("MEMETIK_SECOND_COMPILER", "1")
    assert second_compiler._is_allowed() is fine


# ---- Who compiles what -----------------------------------------------------------------------------------------


class Kernel:
    """What is left of a kernel."""

    def __init__(self, jobs):
        self.jobs, self.overloads, self.compiled = jobs, {}, threading.Event()

    def compile(self, arguments):
        self.jobs.before(self, arguments)
        self.overloads[arguments] = True
        self.compiled.set()


@pytest.fixture
def jobs():
    """Three, in the order of need."""
    jobs = _Jobs()
    for _ in range(3):
        kernel = Kernel(jobs)
        jobs.all[kernel, ()] = _Job(kernel, ())
    return jobs


def states(jobs):
    return [job.state for job in jobs.all.values()]


@pytest.mark.quick
def test_the_other_begins_at_the_end(jobs):
    last = jobs.for_the_other()
    first = next(iter(jobs.all.values()))
    first.kernel.compile(())
    assert states(jobs) == [HERE, WAITING, THERE]
    jobs.done(last)
    assert states(jobs) == [HERE, WAITING, DONE]
    assert jobs.standing() == (2, 3)


@pytest.mark.quick
def test_who_must_wait_compiles_something_else(jobs):
    last = jobs.for_the_other()
    waits = threading.Thread(target=last.kernel.compile, args=((),))
    waits.start()
    others = [job.kernel for job in jobs.all.values() if job is not last]
    assert all(kernel.compiled.wait(30.0) for kernel in others)
    assert not last.kernel.compiled.is_set()
    jobs.done(last)
    waits.join(30.0)
    assert last.kernel.compiled.is_set()


@pytest.mark.quick
def test_what_the_other_left_undone_is_done_here(jobs):
    last = jobs.for_the_other()
    jobs.ended()
    assert states(jobs) == 3 * [WAITING]
    last.kernel.compile(())
    assert last.state == HERE


@pytest.fixture
def with_parts(jobs):
    """The last one has three parts, named before it."""
    *others, large = jobs.all.values()
    parts = [_Job(Kernel(jobs), ()) for _ in range(3)]
    for part in parts:
        part.is_part = True
    large.parts = parts
    jobs.all = {(job.kernel, ()): job for job in (*others, *parts, large)}
    return parts, large


@pytest.mark.quick
def test_parts_come_before_what_they_are_copied_into(jobs, with_parts):
    parts, large = with_parts
    taken = [jobs.for_the_other() for _ in range(3)]
    assert taken == parts[::-1]
    assert jobs.for_the_other() not in (None, large)  # it would compile the parts again that are not done
    for part in parts:
        jobs.done(part)
    assert jobs.for_the_other() is large


@pytest.mark.quick
def test_two_processes_share_the_parts(jobs, with_parts):
    parts, large = with_parts
    jobs.process = object()
    there = jobs.for_the_other()
    waits = threading.Thread(target=large.kernel.compile, args=((),))
    waits.start()
    waits.join(30.0)
    assert [part.state for part in parts] == [DONE, DONE, THERE]  # its copy waits for the last when it needs it
    assert there is parts[2] and large.state == HERE


@pytest.mark.quick
def test_within_a_kernel_no_other_is_begun(jobs, with_parts):
    parts, _ = with_parts
    jobs.process = object()
    there = jobs.for_the_other()

    def need():
        with second_compiler.compiling():
            there.kernel.compile(())

    waits = threading.Thread(target=need)
    waits.start()
    waits.join(0.2)
    assert waits.is_alive()
    assert [part.state for part in parts] == [WAITING, WAITING, THERE]
    jobs.done(there)
    waits.join(30.0)
    assert there.kernel.compiled.is_set()


@pytest.mark.quick
def test_the_other_is_not_kept_for_nothing(jobs, monkeypatch):
    monkeypatch.setattr(second_compiler, "IDLE", 0.01)
    for _ in jobs.all:
        assert jobs.for_the_other() is not None
    assert jobs.for_the_other() is None
