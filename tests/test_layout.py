"""The layout explains itself: packages of kernels list what is in them, and kernels keep to records with names."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "memetik"


CLIENTS = {
    "urllib.request",
    "http.client",
    "requests",
    "httpx",
    "aiohttp",
    "ftplib",
    "smtplib",
    "xmlrpc.client",
    "urllib3",
}


@pytest.mark.parametrize(
    "package", sorted((SOURCE / "kernels").rglob("__init__.py")), ids=lambda path: path.parent.name
)
def test_packages_of_kernels_list_their_modules(package):
    """All but the files that declare kinds of terms: their first lines and `KINDS` are the list of these."""
    listed = set(re.findall(r"^ *(\w+)  +\w", package.read_text(), re.MULTILINE))
    modules = [path for path in package.parent.glob("*.py") if "= declare(" not in path.read_text()]
    here = {path.stem for path in modules} - {"__init__"}
    packages = {path.parent.name for path in package.parent.glob("*/__init__.py")}
    assert here <= listed
    assert listed <= here | packages


def test_nothing_makes_requests():
    """Sockets are for what listens, for clients of ROS and for a cluster, which are told where to."""
    found = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in names:
                found[name].add(path.relative_to(SOURCE).parts[0])
    assert not CLIENTS & set(found)
    assert found["socket"] <= {"serve", "studio", "batch"}


# ---- Kernels ------------------------------------------------------------------------------------------------

PARAMETERS = 10  # of a kernel
NAMES = 7  # that may be unpacked at once: a pose has as many numbers
RECORDS = {"problem", "run", "work", "arrays", "own", "scratch", "shared", "worker", "settings"}
# Arrays whose first index counts what has no other name: numbers of a pose or a twist, rows of a matrix, individuals.
ALIKE = {"frame_poses", "poses", "pose", "jacobian", "m", "genes", "children"}
COUNTED = {"joints", "start", "tip"}  # fields of records whose entries are alike: joints in a row, numbers of a pose


def kernel_nodes(kind):
    """Every node of this kind in the source of the kernels, with where it stands."""
    for path in sorted((SOURCE / "kernels").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, kind):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def is_number(node):
    """Whether it is a whole number that is written out, perhaps with a sign."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def parameters(function):
    """All that a function takes, however it is given."""
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return len(every) + (args.vararg is not None) + (args.kwarg is not None)


def rows_of_fields():
    """Of every array that is a field of a record, by its name, how many rows it is declared with: 2 in floats(2, "dof")."""
    rows = defaultdict(set)
    for _, node in kernel_nodes(ast.AnnAssign):
        if isinstance(node.value, ast.Call) and called(node.annotation) == "Array":
            shape = node.value.args[called(node.value.func) == "records" :]
            rows[called(node.target)].add(shape[0].value if is_number(shape[0]) else None)
    return rows


def called(node):
    """The last part of a name: `work` in arrays.work."""
    return getattr(node, "id", getattr(node, "attr", ""))


def test_kernels_have_few_parameters():
    many = [
        f"{where} {node.name} has {parameters(node)}"
        for where, node in kernel_nodes(ast.FunctionDef)
        if parameters(node) > PARAMETERS
    ]
    assert many == []


def test_records_are_read_by_name():
    """No problem[4], and no tuple of many arrays that is unpacked in step with a list elsewhere."""
    numbered = [
        f"{where} {ast.unparse(node)}"
        for where, node in kernel_nodes(ast.Subscript)
        if is_number(node.slice) and called(node.value) in RECORDS
    ]
    unpacked = [
        f"{where} {len(node.targets[0].elts)} names"
        for where, node in kernel_nodes(ast.Assign)
        if isinstance(node.targets[0], ast.Tuple)
        and len(node.targets[0].elts) > NAMES
        and not isinstance(node.value, ast.Tuple)
    ]
    assert numbered + unpacked == []


def test_rows_have_names():
    """bounds[2, k] tells nobody that it is the lower limit for sampling."""
    rows = [
        f"{where} {ast.unparse(node)}"
        for where, node in kernel_nodes(ast.Subscript)
        if isinstance(node.slice, ast.Tuple)
        and is_number(node.slice.elts[0])
        and not all(map(is_number, node.slice.elts))
        and called(node.value) not in ALIKE
    ]
    twice = [
        f"{where} {ast.unparse(node)}"
        for where, node in kernel_nodes(ast.Subscript)
        if not is_number(node.slice)
        and isinstance(node.value, ast.Subscript)
        and is_number(node.value.slice)
        and called(node.value.value) not in ALIKE
    ]
    assert rows + twice == []


def test_fields_have_names():
    """slide.count[1] tells nobody what is counted: two fields do."""
    rows = rows_of_fields()
    assert rows["turns"] == {4}  # floats(4, 3) in closed_form/record.py
    several = {name for name, counts in rows.items() if any(count and count > 1 for count in counts)} - COUNTED
    picked = [
        f"{where} {ast.unparse(node)}"
        for where, node in kernel_nodes(ast.Subscript)
        if is_number(node.slice)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr in several
        # The only entry of another record's field of that name is no choice.
        and not (1 in rows[node.value.attr] and ast.unparse(node.slice) == "0")
    ]
    assert picked == []
