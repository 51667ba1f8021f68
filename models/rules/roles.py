"""Roles of people and permissions of tokens, as the contract names them (tenancy.md)."""

from typing import Literal

OrgRole = Literal["owner", "admin", "member"]
ADMINISTRATORS: tuple[OrgRole, ...] = ("owner", "admin")

ProjectRole = Literal["admin", "member", "viewer"]
ProjectState = Literal["active", "archived", "deleted"]

GlobalWrite = Literal["member", "admin"]
"""Who may write structured memories of the whole organization: everybody in it, or its owners and admins."""

Permission = Literal["read", "write", "admin.memories", "service"]
PERMISSIONS: tuple[Permission, ...] = ("read", "write", "admin.memories", "service")


def in_order(permissions: list[Permission]) -> list[Permission]:
    """Each permission once, in the order in which the contract lists them."""
    return [permission for permission in PERMISSIONS if permission in permissions]
