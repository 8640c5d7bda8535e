//go:build !windows

package watch

import (
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/dirread"
)

func stampOf(fi fs.FileInfo) dirread.Stamp { return dirread.StampOf(fi, nil) }
