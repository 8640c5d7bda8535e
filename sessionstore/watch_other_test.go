//go:build !unix

package sessionstore

import "time"

// processorTime returns what this process has used, 0 where the system does
// not tell.
func processorTime() time.Duration { return 0 }
