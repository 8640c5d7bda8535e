//go:build !unix

package checkpoint

import "io/fs"

// isReadOnly reports nothing where a file system without writing denies
// permission.
func isReadOnly(error) bool { return false }

// isOwn trusts the temporary directory, which is each user's own here.
func isOwn(fs.FileInfo) bool { return true }
