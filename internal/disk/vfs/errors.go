package vfs

import "errors"

// ErrInUse reports that another program has the file open and does not share it.
var ErrInUse = errors.New("another program has the file open, and keeps others from it; close it there and try again")

// ErrNotRegular is the error for what is no regular file.
var ErrNotRegular = errors.New("not a regular file")

// ErrLost is the error of a symlink that leads to nothing.
var ErrLost = errors.New("it is a symlink that leads nowhere")

// ErrOvertaken reports that another writer, one that honours no lock, changed a
// file while it was about to be replaced.
var ErrOvertaken = errors.New("another writer changed the file")
