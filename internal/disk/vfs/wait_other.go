//go:build !windows

package vfs

import (
	"errors"
)

// inUse knows no error of the system here: only seams of tests return ErrInUse.
func inUse(err error) bool { return errors.Is(err, ErrInUse) }

func denied(error) bool { return false }
