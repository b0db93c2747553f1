// Fast DDS, another vendor: what comes on rt/joint_states_ik goes back on rt/joint_states, with positions as velocities, too.
#include <chrono>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <thread>

#include "JointState.h"
#include "JointStatePubSubTypes.h"

using namespace eprosima::fastdds::dds;

int main(int, char** given) {
  auto* participant = DomainParticipantFactory::get_instance()->create_participant(std::stoi(given[1]), PARTICIPANT_QOS_DEFAULT);
  TypeSupport type(new sensor_msgs::msg::dds_::JointState_PubSubType());
  type.register_type(participant);
  auto* in = participant->create_topic("rt/joint_states_ik", type.get_type_name(), TOPIC_QOS_DEFAULT);
  auto* out = participant->create_topic("rt/joint_states", type.get_type_name(), TOPIC_QOS_DEFAULT);
  DataReaderQos reliable = DATAREADER_QOS_DEFAULT;
  reliable.reliability().kind = RELIABLE_RELIABILITY_QOS;
  auto* reader = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(in, reliable);
  auto* writer = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(out, DATAWRITER_QOS_DEFAULT);
  for (auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - begin < std::chrono::seconds(60);) {
    sensor_msgs::msg::dds_::JointState_ message;
    SampleInfo info;
    if (reader->take_next_sample(&message, &info) == ReturnCode_t::RETCODE_OK && info.valid_data) {
      message.velocity() = message.position();
      writer->write(&message);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}
