package atomicfile

import "github.com/amplifier-go/sessionstorage/internal/seam"

// Sync makes the directory's names durable. Windows keeps names durable by
// itself and has no such call; there it does nothing.
func (d *Dir) Sync() error {
	return d.seam.Do(d.op(seam.SyncDir, "", ""), d.syncNames)
}
