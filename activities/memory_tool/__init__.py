"""The `memory` tool that agents call: one implementation for every way in (memory.md §3)."""
