"""Functions from batches to batches without a JVM: files to facts, facts to verdicts, operations to states."""

from strandline.dialects.aura.kernels.admission import (
    ATTESTED_COLUMNS,
    GROUP_COLUMNS,
    KNOWN_STATE,
    VERDICT_SCHEMA,
    admitted,
    attested,
)
from strandline.dialects.aura.kernels.authority_plans import PLANNED_SCHEMA, planned
from strandline.dialects.aura.kernels.contexts import (
    FORK_COLUMNS,
    STATE_INPUT_COLUMNS,
    STATE_INPUT_SCHEMA,
    fork_rows,
    state_inputs,
)
from strandline.dialects.aura.kernels.continued import CONTINUED_COLUMNS, COUNTS, continued
from strandline.dialects.aura.kernels.documents import read_content
from strandline.dialects.aura.kernels.histories import (
    HISTORY_COLUMNS,
    HISTORY_SCHEMA,
    PATH_COLUMNS,
    PATH_SCHEMA,
    histories,
    pruned_paths,
)
from strandline.dialects.aura.kernels.judgement import (
    FACT_FIELDS,
    JUDGED,
    authority_of,
    fact_columns,
    judge,
    named_states,
)
from strandline.dialects.aura.kernels.packing import SEPARATORS, packed
from strandline.dialects.aura.kernels.pruning import (
    CARRY_COLUMNS,
    CARRY_SCHEMA,
    FLOW_COLUMNS,
    PRUNED_COLUMNS,
    SUM_SCHEMA,
    carried_sums,
    encoded_carries,
    skeleton_sums,
)
from strandline.dialects.aura.kernels.reduced_rows import REDUCED_SCHEMA, STATE_FIELDS
from strandline.dialects.aura.kernels.reduction import REDUCTION_COLUMNS, reduced
from strandline.dialects.aura.kernels.replay import replay
from strandline.dialects.aura.kernels.snapshots import (
    JUDGED_SCHEMA,
    SNAPSHOT_INPUT_COLUMNS,
    judged_snapshots,
)
from strandline.dialects.aura.kernels.stored import (
    DERIVED,
    DERIVED_FIELDS,
    REMAINS,
    SKELETON_STATE_SCHEMA,
    pruned_of,
    skeleton_states,
)

__all__ = [
    "ATTESTED_COLUMNS",
    "CARRY_COLUMNS",
    "CARRY_SCHEMA",
    "CONTINUED_COLUMNS",
    "COUNTS",
    "DERIVED",
    "DERIVED_FIELDS",
    "FACT_FIELDS",
    "FLOW_COLUMNS",
    "FORK_COLUMNS",
    "GROUP_COLUMNS",
    "HISTORY_COLUMNS",
    "HISTORY_SCHEMA",
    "JUDGED",
    "JUDGED_SCHEMA",
    "KNOWN_STATE",
    "PATH_COLUMNS",
    "PATH_SCHEMA",
    "PLANNED_SCHEMA",
    "PRUNED_COLUMNS",
    "REDUCED_SCHEMA",
    "REDUCTION_COLUMNS",
    "REMAINS",
    "SEPARATORS",
    "SKELETON_STATE_SCHEMA",
    "SNAPSHOT_INPUT_COLUMNS",
    "STATE_FIELDS",
    "STATE_INPUT_COLUMNS",
    "STATE_INPUT_SCHEMA",
    "SUM_SCHEMA",
    "VERDICT_SCHEMA",
    "admitted",
    "attested",
    "authority_of",
    "carried_sums",
    "continued",
    "encoded_carries",
    "fact_columns",
    "fork_rows",
    "histories",
    "judge",
    "judged_snapshots",
    "named_states",
    "packed",
    "planned",
    "pruned_of",
    "pruned_paths",
    "read_content",
    "reduced",
    "replay",
    "skeleton_states",
    "skeleton_sums",
    "state_inputs",
]
