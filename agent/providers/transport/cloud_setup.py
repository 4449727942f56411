"""What a vendor's package lacks before it can send anything, as a sentence that says what to do."""

from __future__ import annotations

from gatewright.agent.errors import FailureKind, ProviderError

SIGNERS = ("boto3", "botocore", "google")  # what the packages sign with: their errors are setup
AWS = (
    "{who} finds no AWS credentials. Run `aws configure` or `aws sso login`, set AWS_ACCESS_KEY_ID "
    "and AWS_SECRET_ACCESS_KEY, or name a profile in providers.{who}.options.profile."
)
GOOGLE = (
    "{who} finds no Google credentials. Run `gcloud auth application-default login`, or name a "
    "file of them in GOOGLE_APPLICATION_CREDENTIALS."
)
PROJECT = (
    "{who} has no project. Set providers.{who}.options.project or ANTHROPIC_VERTEX_PROJECT_ID."
)
MISSPELT = (
    "{who} names an AWS profile that is not there. Mend providers.{who}.options.profile or "
    "AWS_PROFILE."
)
SAID = (  # words of the packages, and what they mean for whoever set this up
    ("AWS region", "{who} has no region. Set providers.{who}.options.region or AWS_REGION."),
    ("AWS credentials", AWS),
    ("Unable to locate credentials", AWS),
    ("config profile", MISSPELT),
    ("project_id", PROJECT),
    ("default credentials", GOOGLE),
    ("API token", GOOGLE),
)


def not_set_up(who: str, error: Exception) -> ProviderError:
    """A package that is missing is no matter of a key."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ImportError):
        cause = cause.__cause__
    if cause is not None:
        name = cause.name or "of its cloud"
        return ProviderError(
            FailureKind.REFUSED,
            f"{who} needs the package {name}, which is not installed: "
            "pip install 'gatewright[clouds]'.",
        )
    said = str(error)
    known = next((text for words, text in SAID if words in said), "{who} is not set up: {said}")
    return ProviderError(FailureKind.AUTH, known.format(who=who, said=said))


def of_a_signer(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in SIGNERS
