"""ROS around the core.

definitions   the fields of the messages, as moveit_msgs and bio_ik_msgs have them
convert       messages <-> requests and replies, whoever made their classes
ros1          a node of ROS 1
types2        messages of ROS 2 without ROS
ros2          a node of ROS 2 without ROS
zenoh_wire    Zenoh, as rmw_zenoh speaks it
dds           DDS, as rmw_cyclonedds_cpp speaks it
rclpy_node    a node of ROS 2 where that is installed
bags          joint states and poses in files
"""
