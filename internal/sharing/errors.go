package sharing

import "errors"

// ErrInUse tells that another program has the file open and does not share it.
var ErrInUse = errors.New("another program has the file open, and keeps others from it; close it there and try again")
