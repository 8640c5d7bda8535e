//go:build !linux

package atomicfile

import "os"

// beginSync does nothing: other systems have no such call.
func beginSync(*os.File, int64, int64) {}
