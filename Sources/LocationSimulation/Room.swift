// This room is filled by its first commit.
