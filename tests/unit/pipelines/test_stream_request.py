"""Which options go with a folder and which with a topic."""

import pytest

from strandline.core.errors import UsageError
from strandline.pipelines.stream import StreamRequest, topic_in

TOPIC = "kafka://localhost:9092/journals"


def test_folders_and_topics_have_bounds_of_their_own():
    assert not topic_in(StreamRequest("landing", format="lines", max_files=3))
    topic = topic_in(StreamRequest(TOPIC, max_records=3))
    assert topic is not None
    assert topic.source == TOPIC


@pytest.mark.parametrize(
    ("request_", "code", "named"),
    [
        (StreamRequest("landing", max_records=3), "OPTION_OF_TOPIC", "--max-records"),
        (StreamRequest(TOPIC, max_files=3), "OPTION_OF_FOLDER", "--max-files"),
        (StreamRequest(TOPIC, format="lines"), "OPTION_OF_FOLDER", "--format"),
    ],
)
def test_an_option_of_the_other_kind_of_source_is_refused(request_, code, named):
    with pytest.raises(UsageError) as refused:
        topic_in(request_)
    assert (refused.value.code, refused.value.exit_code) == (code, 2)
    assert named in refused.value.message
