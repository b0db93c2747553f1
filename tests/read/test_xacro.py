"""xacro: expanded if the package is there, a plain hint if it is not."""

import sys

import pytest

from memetik.errors import FormatError, MissingExtraError
from memetik.read import load, read_xacro

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
    body = read_xacro(file, arguments={"length": "3"})
    assert body.forward([0.0, 0.0])["fore"][0, 3] == pytest.approx(3.0)


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


def test_without_the_package_the_message_says_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(MissingExtraError, match=r'pip install "memetik\[xacro\]"'):
        load(file)


def test_a_missing_file(tmp_path):
    with pytest.raises(FormatError, match="there is no file"):
        load(tmp_path / "lost.xacro")
