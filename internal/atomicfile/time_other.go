//go:build !linux

package atomicfile

import "time"

func (d *Dir) setTime(name string, at time.Time) error { return d.root.Chtimes(name, time.Time{}, at) }
