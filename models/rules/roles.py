"""Roles of people and permissions of tokens, as the contract names them (tenancy.md)."""

from typing import Literal

OrgRole = Literal["owner", "admin", "member"]
ProjectRole = Literal["admin", "member", "viewer"]

Permission = Literal["read", "write", "admin.memories", "service"]
PERMISSIONS: tuple[Permission, ...] = ("read", "write", "admin.memories", "service")


def in_order(permissions: list[Permission]) -> list[Permission]:
    """Each permission once, in the order in which the contract lists them."""
    return [permission for permission in PERMISSIONS if permission in permissions]
