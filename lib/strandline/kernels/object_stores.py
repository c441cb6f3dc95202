"""The stores whose objects are input: how a URI names them, where Arrow finds them, what their errors say.

Credentials and endpoints are those of the process that asks, the driver or a worker. They are in its environment, where
the tools of each vendor find them, too, and never in a path: rows and reports keep paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

RETRY_SECONDS: Final = 60
"""How long Google's client asks again; by itself it does so for a quarter of an hour."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectStore:
    """A kind of store. A URI is `SCHEME://ROOT/KEY`; `schemes` has its spellings, the one that paths have first.

    `root` matches all roots. `form` is the URI for messages, `place` what a root is; `variables`, `rights` and
    `endpoint` name the environment that holds what a process needs.
    """

    schemes: tuple[str, ...]
    root: re.Pattern[str]
    form: str
    place: str
    variables: str
    rights: str
    endpoint: str
    file_system: Callable[[str, Mapping[str, str]], FileSystem]
    """Return Arrow's file system of a root, by an environment."""
    answer: re.Pattern[str]
    """Finds the code of the store's answer in an error of Arrow, and where it is told the status of HTTP."""
    denied: frozenset[str]
    missing: frozenset[str]
    no_token: str | None = None
    """What Arrow's error has if the process has no credentials, or they gave no token."""
    lists_by_folder: bool = False
    """Whether Arrow lists keys folder by folder: it then follows an empty part of a key without end."""
    has_folders: bool = False
    """Whether a folder is there by itself, also before its first file and after its last."""
    package: str | None = None
    """The package that reads it, and the extra of the wheel that has it; None: Arrow itself."""
    hadoop: str = "spark.hadoop.fs.s3a.."
    """Where Hadoop finds credentials and endpoint."""

    @property
    def scheme(self) -> str:
        return self.schemes[0]

    def words_for(self, code: str, status: str | None) -> str:
        """Return what the store said, in a few words."""
        if not code:
            return f"the store says HTTP {status}" if status else "the store does not answer"
        said = re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", code).lower()
        return f"the store says {said}" + (f" (HTTP {status})" if status else "")


def _amazon(root: str, _: Mapping[str, str]) -> FileSystem:
    from pyarrow.fs import FileSystem

    # By bucket, since Arrow asks for the region of each; without the key, since Arrow would decode it.
    return FileSystem.from_uri(f"s3://{root}")[0]


def _google(_: str, environ: Mapping[str, str]) -> FileSystem:
    from pyarrow.fs import GcsFileSystem

    limit = timedelta(seconds=RETRY_SECONDS)
    emulator = environ.get("CLOUD_STORAGE_EMULATOR_ENDPOINT") or environ.get("STORAGE_EMULATOR_HOST")
    if not emulator:
        return GcsFileSystem(retry_time_limit=limit)
    # As Google's tools do: another server gets no token.
    scheme, _, authority = emulator.rstrip("/").rpartition("://")
    return GcsFileSystem(
        anonymous=True, scheme=scheme or "http", endpoint_override=authority, retry_time_limit=limit
    )


def _azure(root: str, environ: Mapping[str, str]) -> FileSystem:
    from pyarrow.fs import AzureFileSystem

    account, _, domain = root.partition("@")[2].partition(".dfs.")
    places = {"blob_storage_authority": f".blob.{domain}", "dfs_storage_authority": f".dfs.{domain}"}
    emulator = environ.get("AZURE_STORAGE_SERVICE_ENDPOINT")
    if emulator:
        scheme, _, rest = emulator.rpartition("://")
        authority, scheme = rest.partition("/")[0], scheme or "https"
        places = {"blob_storage_authority": authority, "blob_storage_scheme": scheme,
                  "dfs_storage_authority": authority, "dfs_storage_scheme": scheme}  # fmt: skip
    key = environ.get("AZURE_STORAGE_ACCOUNT_KEY") or environ.get("AZURE_STORAGE_KEY")
    # A key signs for one account. Without one Arrow takes Azure's default credentials.
    if (environ.get("AZURE_STORAGE_ACCOUNT") or account) != account:
        key = None
    return AzureFileSystem(account_name=account, account_key=key or None, **places)


def _hadoop(root: str, _: Mapping[str, str]) -> FileSystem:
    from strandline.kernels.hdfs_files import HdfsFiles

    return HdfsFiles(root)


_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]")

S3: Final = ObjectStore(
    schemes=("s3", "s3a"),
    root=_BUCKET,
    form="s3://BUCKET/KEY",
    place="bucket",
    variables="AWS_..",
    rights="AWS_ACCESS_KEY_ID and its secret, AWS_PROFILE, or a role",
    endpoint="AWS_REGION and AWS_ENDPOINT_URL",
    file_system=_amazon,
    answer=re.compile(r"AWS Error ([A-Z_]+)(?: \(HTTP status (\d+)\))?"),
    denied=frozenset(
        ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "INVALID_CLIENT_TOKEN_ID", "SIGNATURE_DOES_NOT_MATCH",
         "EXPIRED_TOKEN", "INVALID_SIGNATURE", "UNRECOGNIZED_CLIENT", "MISSING_AUTHENTICATION_TOKEN",
         "ACCESS_DENIED_EXCEPTION")
    ),
    missing=frozenset(("NO_SUCH_BUCKET", "NO_SUCH_KEY", "RESOURCE_NOT_FOUND")),
)  # fmt: skip

GCS: Final = ObjectStore(
    schemes=("gs",),
    root=_BUCKET,
    form="gs://BUCKET/KEY",
    place="bucket",
    variables="GOOGLE_..",
    rights="GOOGLE_APPLICATION_CREDENTIALS, `gcloud auth application-default login`, or the machine's account",
    endpoint="the network and CLOUD_STORAGE_EMULATOR_ENDPOINT",
    file_system=_google,
    answer=re.compile(r"google::cloud::Status\(([A-Z_]+)():"),
    denied=frozenset(("PERMISSION_DENIED", "UNAUTHENTICATED")),
    missing=frozenset(("NOT_FOUND",)),
    no_token="Could not create a OAuth2 access token",
    hadoop="spark.hadoop.fs.gs..",
)

AZURE: Final = ObjectStore(
    schemes=("abfss", "abfs"),
    # Only hosts of Azure: credentials go where the URI says.
    root=re.compile(
        r"[a-z0-9$][a-z0-9-]{1,61}[a-z0-9]@[a-z0-9]{3,24}\.dfs\.core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn)"
    ),
    form="abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY",
    place="container of an account",
    variables="AZURE_..",
    rights="AZURE_STORAGE_ACCOUNT_KEY, AZURE_CLIENT_ID with its secret and tenant, `az login`, or a managed identity",
    endpoint="the account's name, the network and AZURE_STORAGE_SERVICE_ENDPOINT",
    file_system=_azure,
    answer=re.compile(r"Azure Error: \[([A-Za-z]{0,64})\](?: (\d{3})\b)?"),
    denied=frozenset(("AuthorizationFailure", "AuthenticationFailed", "AuthorizationPermissionMismatch",
                      "InsufficientAccountPermissions", "PublicAccessNotPermitted", "NoAuthenticationInformation")),
    missing=frozenset(("ContainerNotFound", "BlobNotFound", "ResourceNotFound", "PathNotFound", "FilesystemNotFound")),
    no_token="AuthenticationException",
    lists_by_folder=True,
    hadoop="spark.hadoop.fs.azure..",
)  # fmt: skip

HDFS: Final = ObjectStore(
    schemes=("hdfs",),
    # A host with its port, or a name service of Hadoop's configuration.
    root=re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?(?::[0-9]{1,5})?"),
    form="hdfs://NAMENODE:PORT/PATH",
    place="name node",
    variables="HADOOP_..",
    rights="HADOOP_USER_NAME, or a ticket of Kerberos by kinit",
    endpoint="the name node and HADOOP_CONF_DIR",
    file_system=_hadoop,
    # The class of Hadoop's exception, the client's own kind of error, or nothing for one of the network.
    answer=re.compile(
        r"^(?:(?:Fatal)?RPCError\(\"(?:\w+[.$])*)?(\w+?)(?:Exception|Error)?(?:[\"(]|$)()"
        r"|\(os error \d+\)|failed to lookup|^$"
    ),
    denied=frozenset(("AccessControl", "Authorization", "SASL", "GSSAPI", "NoSASLMechanism", "InvalidToken")),
    missing=frozenset(("FileNotFound", "InvalidPath")),
    has_folders=True,
    package="hdfs-native",
    hadoop="HADOOP_CONF_DIR, HADOOP_USER_NAME",
)

STORES: Final = (S3, GCS, AZURE, HDFS)
BY_SCHEME: Final[Mapping[str, ObjectStore]] = {scheme: store for store in STORES for scheme in store.schemes}
