//go:build !unix

package atomicfile

import (
	"os"

	"github.com/amplifier-go/sessionstorage/internal/sharing"
)

func (d *Dir) open(name string, flag int) (*os.File, error) {
	return sharing.Open(func() (*os.File, error) { return d.root.OpenFile(name, flag, 0) })
}
