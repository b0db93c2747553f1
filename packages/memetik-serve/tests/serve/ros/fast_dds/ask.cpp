// Fast DDS, another vendor: sends the bytes of a request to compute_ik in a domain as they are, and prints those of the reply in hex.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using Bytes = std::vector<unsigned char>;

// A type of which only the name is known, as those of the middlewares of ROS 2 are to each other.
class Raw : public TopicDataType {
 public:
  explicit Raw(const char* name) {
    setName(name);
    m_typeSize = 1 << 16;
    m_isGetKeyDefined = false;
  }
  bool serialize(void* data, SerializedPayload_t* payload) override {
    auto* bytes = static_cast<Bytes*>(data);
    payload->encapsulation = CDR_LE;
    payload->length = static_cast<uint32_t>(bytes->size());
    std::memcpy(payload->data, bytes->data(), bytes->size());
    return true;
  }
  bool deserialize(SerializedPayload_t* payload, void* data) override {
    static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
    return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
  }
  void* createData() override { return new Bytes; }
  void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
  bool getKey(void*, eprosima::fastrtps::rtps::InstanceHandle_t*, bool) override { return false; }
};

int main(int, char** given) {
  std::ifstream file(given[2], std::ios::binary);
  Bytes request((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto* participant = DomainParticipantFactory::get_instance()->create_participant(std::stoi(given[1]), PARTICIPANT_QOS_DEFAULT);
  TypeSupport asked(new Raw("moveit_msgs::srv::dds_::GetPositionIK_Request_"));
  TypeSupport answered(new Raw("moveit_msgs::srv::dds_::GetPositionIK_Response_"));
  asked.register_type(participant);
  answered.register_type(participant);
  auto* out = participant->create_topic("rq/compute_ikRequest", asked.get_type_name(), TOPIC_QOS_DEFAULT);
  auto* in = participant->create_topic("rr/compute_ikReply", answered.get_type_name(), TOPIC_QOS_DEFAULT);
  DataReaderQos reliable = DATAREADER_QOS_DEFAULT;
  reliable.reliability().kind = RELIABLE_RELIABILITY_QOS;
  auto* reader = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(in, reliable);
  auto* writer = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(out, DATAWRITER_QOS_DEFAULT);
  const auto begin = std::chrono::steady_clock::now();
  const auto lasts = [begin](int seconds) { return std::chrono::steady_clock::now() - begin < std::chrono::seconds(seconds); };
  PublicationMatchedStatus heard;
  SubscriptionMatchedStatus hears;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the other side has to see this one, too
    writer->get_publication_matched_status(heard);
    reader->get_subscription_matched_status(hears);
  } while ((heard.current_count == 0 || hears.current_count == 0) && lasts(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  writer->write(&request);
  Bytes reply;
  SampleInfo info;
  while (lasts(30)) {
    if (reader->take_next_sample(&reply, &info) == ReturnCode_t::RETCODE_OK && info.valid_data) {
      for (unsigned char byte : reply) std::printf("%02x", byte);
      return 0;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return 1;
}
