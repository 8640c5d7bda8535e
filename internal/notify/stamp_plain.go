//go:build !linux && !darwin && !windows

package notify

import "io/fs"

func (s *Stamp) identify(fs.FileInfo) {}
