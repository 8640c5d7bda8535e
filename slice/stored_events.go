package slice

import (
	"io"

	"github.com/amplifier-go/sessionstorage/internal/core"
)

// withEvents writes a new log with write, then changes the transcript with set,
// and then gives the new log its name. If writing the log or set fails, the old
// log stays. If the store syncs, the new transcript is durable before the log
// gets its name: a power cut does not keep the new log alone.
func (c *change) withEvents(write func(io.Writer) error, set func() error) error {
	store, dir := core.Of(c.st), c.tx.Dir()
	log, err := dir.Prepare(eventsFile, store.Syncs(), store.Now(), write)
	if err != nil {
		return err
	}
	if err = c.ctx.Err(); err == nil {
		err = set()
	}
	if err == nil && store.Syncs() {
		err = dir.Sync()
	}
	if err == nil {
		err = log.Rename(eventsFile)
	}
	if err != nil {
		log.Discard()
		return err
	}
	c.tx.Renamed(eventsFile)
	return log.Close()
}
