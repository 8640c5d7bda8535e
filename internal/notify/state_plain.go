//go:build !linux && !darwin && !windows

package notify

import "io/fs"

func (s *State) identify(fs.FileInfo) {}
