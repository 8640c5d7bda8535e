//go:build !unix

package ownership

import "io/fs"

// supported is false where the reference has no ownership lock. The code below is not
// reached there.
const supported = false

func ours(fs.FileInfo) bool { return false }

func userName() string { return "" }

func answers(int) bool { return false }
