"""The events of OpenLineage, made of its client's classes."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    dataset_version_dataset,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
)

from strandline.pipelines.report import utc_text


def event(
    kind: str,
    at: datetime,
    run_id: uuid.UUID,
    job: tuple[str, str],
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[Mapping[str, Any]],
    facets: Mapping[str, Any],
    *,
    producer: str,
) -> RunEvent:
    """Return one event of a run; `job` is its namespace and name, a dataset has `namespace`, `name` and more members.

    `version` of a dataset is a table's version, `rows` of an output the number of inserted rows.
    """
    kind_of_job = job_type_job.JobTypeJobFacet(
        processingType="BATCH", integration="STRANDLINE", jobType="COMMAND"
    )
    return RunEvent(
        eventType=RunState[kind],
        eventTime=utc_text(at),
        run=Run(
            str(run_id),
            {name: error_message_run.ErrorMessageRunFacet(**members) for name, members in facets.items()},
        ),
        job=Job(*job, {"jobType": kind_of_job}),
        inputs=[InputDataset(each["namespace"], each["name"], facets=_version(each)) for each in inputs],
        outputs=[
            OutputDataset(
                each["namespace"],
                each["name"],
                {
                    "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
                        each["rows"]
                    )
                },
                facets=_version(each),
            )
            for each in outputs
        ],
        producer=producer,
    )


def _version(dataset: Mapping[str, Any]) -> dict[str, Any]:
    if "version" not in dataset:
        return {}
    return {"version": dataset_version_dataset.DatasetVersionDatasetFacet(str(dataset["version"]))}
