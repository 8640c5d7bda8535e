//go:build !unix

package atomicfile

import "os"

// Own does nothing: files belong to who may use the directory.
func Own(*os.Root, string) error { return nil }
