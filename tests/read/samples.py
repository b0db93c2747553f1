"""A small arm with a gripper, in URDF and SRDF, that has every element the readers know.

world --fixed-- base --shoulder-- upper --elbow-- fore --slide-- hand --finger / finger_mimic-- fingers
"""

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <material name="steel"><color rgba="0.6 0.6 0.7 1"/></material>
  <link name="world"/>
  <link name="base">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0 0"/>
      <mass value="4"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
    <visual><geometry><cylinder radius="0.1" length="0.2"/></geometry><material name="steel"/></visual>
    <visual><geometry><sphere radius="0.05"/></geometry></visual>
    <collision><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.3 0.4"/></geometry></collision>
  </link>
  <joint name="mount" type="fixed">
    <parent link="world"/><child link="base"/><axis xyz="0 0 0"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="10" velocity="1.5" acceleration="7"/>
    <safety_controller k_velocity="10" k_position="5" soft_lower_limit="-1.5" soft_upper_limit="3"/>
    <dynamics damping="0.1" friction="0"/>
    <calibration rising="0"/>
  </joint>
  <link name="upper">
    <visual>
      <origin xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><capsule radius="0.05" length="0.4"/></geometry>
      <material name="red"><color rgba="1 0 0 0.5"/></material>
    </visual>
    <collision><geometry><sphere radius="0.3"/></geometry></collision>
  </link>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="fore"/><origin xyz="0.4 0 0"/><axis xyz="0 0 1"/>
    <limit effort="10" velocity="3"/>
  </joint>
  <link name="fore"/>
  <joint name="slide" type="prismatic">
    <parent link="fore"/><child link="hand"/><origin xyz="0.3 0 0"/>
    <limit lower="0" upper="0.2" effort="10" velocity="1"/>
  </joint>
  <link name="hand">
    <visual>
      <geometry><mesh filename="package://arm/meshes/hand.stl" scale="0.001 0.001 -0.001"/></geometry>
      <material name="red"/>
    </visual>
  </link>
  <joint name="finger" type="revolute">
    <parent link="hand"/><child link="left_finger"/><origin xyz="0.1 0.02 0"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.8" effort="1" velocity="1"/>
  </joint>
  <link name="left_finger"/>
  <joint name="finger_mimic" type="revolute">
    <parent link="hand"/><child link="right_finger"/><origin xyz="0.1 -0.02 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="0.1" effort="1" velocity="1"/>
    <mimic joint="finger" multiplier="-1" offset="0.1"/>
  </joint>
  <link name="right_finger"/>
  <transmission name="t"><actuator name="a"/></transmission>
  <gazebo reference="hand"><gravity>true</gravity></gazebo>
</robot>
"""

SRDF = """<?xml version="1.0"?>
<robot name="arm">
  <virtual_joint name="ground" type="planar" parent_frame="floor" child_link="world"/>
  <group name="reach"><chain base_link="base" tip_link="hand"/></group>
  <group name="grip">
    <joint name="finger"/>
    <joint name="finger_mimic"/>
  </group>
  <group name="all"><joint name="ground"/><group name="reach"/><group name="grip"/></group>
  <group name="looks"><link name="hand"/></group>
  <group_state name="home" group="reach">
    <joint name="shoulder" value="0.5"/>
    <joint name="slide" value="0.1"/>
    <joint name="ground" value="0 0 0"/>
  </group_state>
  <group_state name="ready" group="reach"><joint name="elbow" value="1"/></group_state>
  <end_effector name="hand" parent_link="hand" group="grip"/>
  <disable_collisions link1="upper" link2="base" reason="Adjacent"/>
  <disable_collisions link1="fore" link2="upper" reason="Adjacent"/>
</robot>
"""


def changed(text: str, old: str, new: str) -> str:
    """The text with one place changed; the place must be there, once."""
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
    return text.replace(old, new)
