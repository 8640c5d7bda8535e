package slice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// What a copy of a file was kept before, in its name.
const (
	labelRepair = "pre-repair"
	labelRewind = "pre-rewind"
	labelUndo   = "pre-undo"
)

// keepInfix and keepStamp make the names of kept files as the reference does.
const (
	keepInfix = ".bak-"
	keepStamp = "20060102150405" // UTC
)

// kept are copies of files of a session, made before they change.
type kept struct {
	dir    *sessiondir.Dir
	suffix string
	names  []string
	was    sessiondir.Stamp // of the transcript
}

// keep copies files of the session under names that nothing has, and makes the
// copies durable if the store promises that. Those that are not there are
// left out.
func (c *change) keep(label string, names ...string) (*kept, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	dir, in := c.work.Dir(), c.st.Inside()
	dir.Sweep()
	dir.SweepFile(eventsFile)
	k := &kept{dir: dir, suffix: freeSuffix(dir, keepInfix+label+"-"+in.Now().UTC().Format(keepStamp), names)}
	var err error
	if k.was, err = dir.Stat(sessiondir.Transcript); err != nil {
		return nil, err
	}
	for _, name := range names {
		err := k.copy(name, in.Sync())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, k.drop(fmt.Errorf("keep %s: %w", name, err))
		}
		k.names = append(k.names, name)
		c.work.Renamed(name + k.suffix)
	}
	if in.Sync() {
		if err := dir.Sync(); err != nil {
			return nil, k.drop(fmt.Errorf("sync directory: %w", err))
		}
	}
	return k, nil
}

// freeSuffix returns suffix, numbered when one of the files is kept under it
// already: seconds are all that the reference tells apart.
func freeSuffix(dir *sessiondir.Dir, suffix string, names []string) string {
	free := suffix
	for n := 2; ; n++ {
		taken := false
		for _, name := range names {
			_, err := dir.Stat(name + free)
			taken = taken || !errors.Is(err, fs.ErrNotExist)
		}
		if !taken {
			return free
		}
		free = suffix + "-" + strconv.Itoa(n)
	}
}

// copy keeps one file. The log only ever grows, and nobody writes into kept
// files: it gets a second name, where there are such, however large it is.
func (k *kept) copy(name string, sync bool) error {
	if _, err := k.dir.Stat(name); err != nil {
		return err
	}
	if name != eventsFile || k.dir.Link(name, name+k.suffix) != nil {
		return k.dir.Copy(name, name+k.suffix, sync)
	}
	if !sync {
		return nil
	}
	file, err := k.dir.Edit(name + k.suffix)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// path returns where a file is kept, or "".
func (k *kept) path(name string) string {
	for _, has := range k.names {
		if has == name {
			return k.dir.Path(name + k.suffix)
		}
	}
	return ""
}

// drop removes the copies because of err, to which it adds what fails.
func (k *kept) drop(err error) error {
	for _, name := range k.names {
		err = errors.Join(err, k.dir.Remove(name+k.suffix))
	}
	return err
}

// unlessChanged returns err, and drops the copies when there is an error and the
// transcript is still what it was, or another writer's.
func (k *kept) unlessChanged(err error) error {
	if err == nil {
		return nil
	}
	now, serr := k.dir.Stat(sessiondir.Transcript)
	if serr == nil && now.Same(k.was) || errors.Is(err, sessionstore.ErrConflict) {
		return k.drop(err)
	}
	return err
}

// marshalReport returns the reference's form of a report: of one that nothing
// was done, the status.
func marshalReport(idle bool, status string, full any) ([]byte, error) {
	if !idle {
		return json.Marshal(full)
	}
	return json.Marshal(struct {
		Status string `json:"status"`
	}{status})
}
