"""A scripted model server on loopback that speaks the Messages, chat completions and responses APIs."""

from fakemodel.server import Recorded, Server, serve

__all__ = ["Recorded", "Server", "serve"]
