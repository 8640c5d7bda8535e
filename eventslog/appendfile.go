package eventslog

import "github.com/amplifier-go/sessionstorage/internal/atomicfile"

// appendFile is the open log.
type appendFile struct {
	dir    *atomicfile.Dir
	file   *atomicfile.Append
	named  bool // its name and its directory's are durable, as far as a sync of both makes them
	unsure bool // a sync failed: what was written last may be lost, with its end, even if the next sync succeeds
}

// end returns the size of the file, and whether its last line lacks an LF.
func (a *appendFile) end() (size int64, torn bool, err error) {
	fi, err := a.file.File().Stat()
	if err != nil || fi.Size() == 0 {
		return 0, false, err
	}
	var last [1]byte
	if _, err := a.file.File().ReadAt(last[:], fi.Size()-1); err != nil {
		return 0, false, err
	}
	return fi.Size(), last[0] != '\n', nil
}
