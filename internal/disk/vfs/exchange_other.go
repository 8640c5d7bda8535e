//go:build !linux && !darwin

package vfs

import "errors"

func (d *Dir) exchange(string, string) error { return errors.ErrUnsupported }

func (d *Dir) renameNew(string, string) error { return errors.ErrUnsupported }
