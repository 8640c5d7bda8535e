package vfs

import "errors"

// ErrInUse is returned when another program has the file open and does not share it.
var ErrInUse = errors.New("another program has the file open, and keeps others from it; close it there and try again")

// ErrNotRegular is returned for anything but a regular file.
var ErrNotRegular = errors.New("not a regular file")

// ErrLost is returned for a symlink that leads to nothing.
var ErrLost = errors.New("it is a symlink that leads nowhere")

// ErrOvertaken is returned when another writer, which honours no lock, changed a file
// before it could be replaced.
var ErrOvertaken = errors.New("another writer changed the file")
