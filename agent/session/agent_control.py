"""What an extension that runs agents lets the person do with them; a part of its contribution."""

from __future__ import annotations


class AgentControl:
    """Every path is that of an agent that lives or has ended in this session."""

    async def say(self, path: str, text: str) -> None:
        """The person's words; one that had ended goes on with them. Raises ToolFailure."""
        raise NotImplementedError

    async def stop(self, path: str) -> bool:
        """End it and all below it as the person wants it; False: it does not live."""
        raise NotImplementedError
