"""xacro: expanded as the package does it, without running anything of the file."""

import sys
from time import thread_time

import pytest

from memetik.cli import main
from memetik.errors import FormatError, MissingExtraError, UnknownNameError
from memetik.read import load
from memetik.read.xacro.expand import expand
from memetik.read.xml import parse

XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="half" value="${0.5 * $(arg length)}"/>
  <link name="base"/>
  <xacro:macro name="segment" params="name parent">
    <link name="${name}"/>
    <joint name="${name}_joint" type="continuous">
      <parent link="${parent}"/><child link="${name}"/><origin xyz="${half} 0 0"/>
    </joint>
  </xacro:macro>
  <xacro:segment name="upper" parent="base"/>
  <xacro:segment name="fore" parent="upper"/>
</robot>
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(XACRO)
    return path


def test_macros_are_expanded(file):
    body = load(file)
    assert body.joint_names == ("upper_joint", "fore_joint")
    assert body.forward([0.0, 0.0])["fore"][0, 3] == pytest.approx(0.5)


def test_arguments(file):
    body = load(file, args={"length": 3})
    assert body.forward([0.0, 0.0])["fore"][0, 3] == pytest.approx(3.0)


def test_arguments_that_the_file_does_not_know_raise(file):
    with pytest.raises(UnknownNameError, match=r"lenght.*length"):
        load(file, args={"lenght": "3"})
    with pytest.raises(FormatError, match=r"args is .*Give a dict"):
        load(file, args="length")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("${half} 0 0", "${hlf} 0 0", "hlf"),
        ('<xacro:segment name="fore"', '<xacro:sgment name="fore"', "sgment"),
        ('name="base"/>', 'name="base"/><xacro:include filename="lost.xacro"/>', "lost.xacro"),
        ("${half} 0 0", "${1 / 0} 0 0", "division by zero"),
        ("${half} 0 0", "${'abc'} 0 0", "not a number"),
        ("</robot>", "", "not XML"),
        ("<robot name", "<!DOCTYPE robot><robot name", "document types"),
    ],
)
def test_errors_name_the_file(file, capsys, old, new, says):
    assert XACRO.count(old) == 1
    file.write_text(XACRO.replace(old, new))
    with pytest.raises(FormatError) as caught:
        load(file)
    assert "arm.urdf.xacro" in str(caught.value) and says in str(caught.value)


def test_trusted_without_the_package_the_message_says_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    assert len(load(file).joint_names) == 2  # what needs no trust needs no package either
    with pytest.raises(MissingExtraError, match=r'pip install "memetik\[xacro\]"'):
        load(file, trust=True)


def test_a_missing_file(tmp_path):
    with pytest.raises(FormatError, match="there is no file"):
        load(tmp_path / "lost.xacro")


# ---- As the package xacro expands it --------------------------------------------------------------------------------

RICH = """<robot name="rich" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="prefix" default="left_"/>
  <xacro:arg name="sensors" default="true"/>
  <xacro:property name="name" value="rich"/>
  <xacro:property name="pi2" value="${pi/2}"/>
  <xacro:property name="late" value="${early * 2}"/>
  <xacro:property name="early" value="0.25"/>
  <xacro:property name="text" value="'007'"/>
  <xacro:property name="limits" value="${xacro.load_yaml('config/limits.yaml')}"/>
  <xacro:property name="sizes" value="${dict(a=1.5, b=[1, 2, 3])}"/>
  <xacro:include filename="parts/*.xacro"/>
  <xacro:include filename="parts/arm.xacro" ns="space"/>
  <xacro:include filename="parts/nowhere.xacro" optional="true"/>
  <xacro:property name="collision"><geometry><sphere radius="${late}"/></geometry></xacro:property>
  <xacro:macro name="outer" params="n:=3 parent *origin **content suffix:=${'_x'} early:=^|7">
    <link name="$(arg prefix)${n}${suffix}" note="${early} ${space.gain} $${n} ${text} ${' '.join(['a', 'b'])}">
      <collision><xacro:insert_block name="collision"/><xacro:insert_block name="origin"/></collision>
      <xacro:insert_block name="content"/>
    </link>
    <xacro:if value="${n > 1}">
      <xacro:outer n="${n - 1}" parent="${parent}" suffix="${suffix}">
        <origin xyz="${n} 0 ${sin(pi2)}"/><extra><deep depth="${n}"/></extra>
      </xacro:outer>
    </xacro:if>
    <xacro:property name="seen" value="${n}" scope="parent"/>
  </xacro:macro>
  <xacro:outer parent="base" n="3"><origin xyz="0 0 0"/><more><one/><two/></more></xacro:outer>
  <xacro:call macro="${'seg' + 'ment'}" name="called"/>
  <xacro:space.segment name="spaced"/>
  <xacro:unless value="$(arg sensors)"><link name="blind"/></xacro:unless>
  <xacro:if value="$(arg sensors)"><link name="eye_$(arg prefix)end" size="${sizes['b'][-1]} ${sizes['a']}"/></xacro:if>
  <xacro:element xacro:name="${'li' + 'nk'}" name="made"><xacro:attribute name="more" value="n${seen + 1}"/></xacro:element>
  <numbers a="${limits.shoulder.upper} ${limits['elbow']['lower']} ${[x * 2 for x in range(4) if x]}"
    b="${'%.3f' % radians(90)} ${max(1, 2.5)} ${1 if early else 0} ${len(limits)} ${round(2.567, 1)} ${7 // 2} ${not True}"
    c="${[k.upper() for k in sorted(limits.keys())]} ${dict(a=1)} ${python.sum([1, 2])} ${math.floor(1.5)} ${1e-7} ${2**10}"
    d="$(eval 2 * 3) ${xacro.arg('prefix')} ${'b' in ['a', 'b']} ${abs_filename('x')[-1]} ${(1, 2)} ${None} ${1.0}"/>
  <xacro:property name="gone" value="1"/><xacro:property name="gone" remove="true"/>
  <xacro:property name="kept" value="1"/><xacro:property name="kept" default="2"/>
  <xacro:if value="${kept == 1 and late == 0.5}"><link name="last"/></xacro:if>
</robot>
"""
ARM = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="gain" value="${2 * 21}"/>
  <xacro:macro name="segment" params="name"><link name="${name}_${gain}"/></xacro:macro>
</robot>"""
LIMITS = "shoulder: {lower: -1.5, upper: !degrees 90}\nelbow: {lower: !degrees -45.0, upper: 2}\n"


@pytest.fixture
def package(tmp_path):
    (tmp_path / "robot" / "parts").mkdir(parents=True)
    (tmp_path / "robot" / "config").mkdir()
    (tmp_path / "robot" / "rich.xacro").write_text(RICH)
    (tmp_path / "robot" / "parts" / "arm.xacro").write_text(ARM)
    (tmp_path / "robot" / "config" / "limits.yaml").write_text(LIMITS)
    return tmp_path / "robot"


def outline(element):
    return element.tag, element.attributes, [outline(child) for child in element.children]


@pytest.mark.parametrize("arguments", [{}, {"prefix": "right_", "sensors": "false"}])
def test_macros_are_expanded_as_by_the_package(package, arguments, capsys):
    xacro = pytest.importorskip("xacro")
    file = package / "rich.xacro"
    theirs = parse(xacro.process_file(str(file), mappings=dict(arguments)).toxml(), "theirs")
    assert outline(expand(file, arguments, [])) == outline(theirs)


def test_a_trusted_file_is_expanded_by_the_package(file):
    file.write_text(XACRO.replace("${half} 0 0", "${(lambda: half)()} 0 0"))
    with pytest.raises(FormatError, match=r"line 8.*lambda is not evaluated without trust.*trust=True"):
        load(file)
    assert load(file, trust=True).forward([0.0, 0.0])["fore"][0, 3] == pytest.approx(0.5)


def test_the_command_line_trusts_only_what_it_is_told_to(file, capsys):
    file.write_text(XACRO.replace("${half} 0 0", "${(lambda: half)()} 0 0"))
    assert main(["show", str(file)]) == 2 and "without trust" in capsys.readouterr().err
    assert main(["show", str(file), "--trust"]) == 0 and "fore" in capsys.readouterr().out


# ---- What a file cannot do ------------------------------------------------------------------------------------------

ESCAPES = (
    "(lambda: 1)()", "().__class__", "[].append(1)", "'{0.__class__}'.format(1)", "f'{1}'", "(x := 1)", "open('/etc/passwd')",
    "__import__('os')", "type(1)", "vars()", "math.__loader__", "math.factorial(5)", "xacro.load_yaml.__globals__", "str.mro()",
    "[*(1, 2)]", "max([1], key=abs)", "map.__self__", "list.__subclasses__()", "(i for i in [1]).gi_frame", "1j", "'a' @ 'b'",
    "limits.pop('a')", "sorted", "getattr(1, 'real')", "eval('1')", "exec('1')", "dict(a=1)._x", "print(1)", "input()",
)  # fmt: skip


@pytest.mark.parametrize("escape", ESCAPES)
def test_no_python_is_run(file, escape):
    file.write_text(XACRO.replace("${half} 0 0", f"${{{escape}}}"))
    with pytest.raises(FormatError):
        load(file)


BOMBS = (
    "9**9**9", "2**-10**9 + 'a'*10**9", "'a'*10**9", "[0]*10**9", "range(10**9)", "'%0999999999d' % 1", "1 << 10**9",
    "[[y for y in range(9999)] for x in range(9999)]", "map(range, [9999]*9999)", "'a'.join(['b'*9999]*9999)",
    "('a'*9999).replace('a', 'b'*9999)", "round(5, -10**9)*'a'", "sum([[1]*9999]*9999, [])", "-"*3900 + "1", "("*1900 + ")"*1900,
    "dict([[x, [0]*9999] for x in range(9999)])", "1" * 3999, "[x for x in range(9999) if x in range(9999)]",
)  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:20])
def test_values_and_work_are_bounded(file, bomb):
    file.write_text(XACRO.replace("${half} 0 0", f"${{{bomb}}}"))
    before = thread_time()
    with pytest.raises(FormatError):
        load(file)
    assert thread_time() - before < 5.0


PROPERTIES = "".join(f'<xacro:property name="a{k}" value="${{a{k - 1}}}${{a{k - 1}}}"/>' for k in range(1, 60))
LISTS = "".join(f'<xacro:property name="a{k}" value="${{[a{k - 1}, a{k - 1}]}}"/>' for k in range(1, 60))
FILES = {
    "recursive macro": '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
    "doubling macros": "".join(
        f'<xacro:macro name="m{k}"><xacro:m{k + 1}/><xacro:m{k + 1}/></xacro:macro>' for k in range(60)
    ) + '<xacro:macro name="m60"><link/></xacro:macro><xacro:m0/>',
    "doubling texts": f'<xacro:property name="a0" value="abc"/>{PROPERTIES}<link name="${{a59}}"/>',
    "doubling lists": f'<xacro:property name="a0" value="abc"/>{LISTS}<link name="${{a59}}"/>',
    "circle": '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/><link name="${a}"/>',
    "includes itself": '<xacro:include filename="arm.urdf.xacro"/>',
    "fatal": "${xacro.fatal('no')}<link name=\"${xacro.fatal('no')}\"/>",
    "environment": '<link name="$(env HOME)"/>',
    "optional environment": '<link name="$(optenv HOME x)"/>',
    "working directory": '<link name="$(cwd)"/>',
    "evaluated environment": '<link name="$(eval env(\'HOME\'))"/>',
    "absolute include": '<xacro:include filename="/etc/hostname"/>',
    "include outside": '<xacro:include filename="../../outside.xacro"/>',
    "absolute yaml": "<link name=\"${xacro.load_yaml('/etc/hostname')}\"/>",
    "yaml outside": "<link name=\"${xacro.load_yaml('../../outside.yaml')}\"/>",
    "package outside": '<xacro:include filename="$(find ..)/outside.xacro"/>',
    "many files outside": '<xacro:include filename="../../outs*"/><link name="${found}"/>',
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_stays_in_its_bounds(tmp_path, name, monkeypatch):
    monkeypatch.setenv("HOME", "/secret")
    (tmp_path / "outside.xacro").write_text('<r xmlns:xacro="x"><xacro:property name="found" value="1"/></r>')
    (tmp_path / "outside.yaml").write_text("found: 1")
    path = tmp_path / "package" / "urdf" / "arm.urdf.xacro"
    path.parent.mkdir(parents=True)
    path.write_text(f'<robot name="r" xmlns:xacro="x"><link name="base"/>{FILES[name]}</robot>')
    before = thread_time()
    with pytest.raises(FormatError) as caught:
        load(path)
    assert "/secret" not in str(caught.value) and thread_time() - before < 5.0


def test_yaml_is_data(tmp_path):
    path = tmp_path / "urdf" / "arm.xacro"
    path.parent.mkdir()
    path.write_text('<robot name="r"><link name="${load_yaml(\'a.yaml\')}"/></robot>')
    for text in (
        "!!python/object/apply:os.getcwd []",
        "a: &a [*a, *a]",
        "!degrees (lambda: 1)()",
        "[" * 5_000,
        "a: b: c",
    ):
        (path.parent / "a.yaml").write_text(text)
        with pytest.raises(FormatError):
            load(path)
    swelling = (
        "a: &a ["
        + "x, " * 50
        + "]\n"
        + "".join(f"{chr(98 + k)}: &{chr(98 + k)} [" + f"*{chr(97 + k)}, " * 50 + "]\n" for k in range(8))
    )
    (path.parent / "a.yaml").write_text(swelling)
    with pytest.raises(FormatError, match="items"):
        load(path)


def test_packages_are_found_around_the_file_and_in_roots(tmp_path):
    (tmp_path / "arm_description" / "urdf").mkdir(parents=True)
    (tmp_path / "elsewhere" / "tool_description").mkdir(parents=True)
    main = tmp_path / "arm_description" / "urdf" / "arm.xacro"
    (tmp_path / "arm_description" / "inc.xacro").write_text('<r xmlns:xacro="x"><link name="included"/></r>')
    (tmp_path / "elsewhere" / "tool_description" / "tool.xacro").write_text('<r><link name="tool"/></r>')
    main.write_text(
        '<robot name="r" xmlns:xacro="x"><xacro:include filename="$(find arm_description)/inc.xacro"/>'
        '<xacro:include filename="$(find tool_description)/tool.xacro"/>'
        '<joint name="j" type="fixed"><parent link="included"/><child link="tool"/></joint></robot>'
    )
    assert set(load(main, roots=[tmp_path / "elsewhere"]).links) == {"included", "tool"}
    with pytest.raises(FormatError, match=r"tool_description/tool.xacro.*roots"):
        load(main)
