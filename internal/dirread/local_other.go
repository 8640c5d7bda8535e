//go:build !linux

package dirread

import "os"

// IsLocal is false: what is known of file systems is not known here.
func IsLocal(*os.File) bool { return false }

// IsLocalAt is false: what is known of file systems is not known here.
func IsLocalAt(string) bool { return false }
