package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// MachinesFile is the name of the file that records the device of a sessions directory on
// each machine. It has a line for each machine that syncs the directory, since machines
// may share a home. A machine adds its line and changes no other. The first line has the
// number of lines that follow, so that a file that was cut is not mistaken for a file
// without a machine.
const MachinesFile = "machines"

// Machine is a line of the file.
type Machine struct {
	Key   string `json:"machine"` // identifies the machine; "": it has no id, and all such are one
	Place string `json:"place"`   // the sessions directory, by its path there: a copy is another device
	ID    string `json:"device"`
}

// ErrNotRecorded is returned when the file has no line for the machine, and cannot get
// one.
var ErrNotRecorded = errors.New("which device this is cannot be recorded")

func damaged(dir *vfs.Dir) error {
	file := filepath.Join(dir.Root().Name(), MachinesFile)
	return fmt.Errorf("%s is damaged: bring it back from a backup, or remove it, or set Options.Device; without the file this machine counts as a new device", file)
}

// machinesTries is how often the addition of a line is tried, if other machines that no
// lock excludes make the file at the same time.
const machinesTries = 5

// DeviceOf returns the device of the directory m.Place on the machine m.Key, by the file
// in dir. If there is no line for it, DeviceOf adds one, with the id that choose returns.
// taken are the devices of other lines. The error Is [ErrNotRecorded] if no line can be
// added.
func DeviceOf(ctx context.Context, dir *vfs.Dir, m Machine, choose func(taken map[string]bool) (string, error)) (id string, err error) {
	if f, err := readMachines(dir); err == nil && f.idOf(m) != "" {
		return f.idOf(m), nil
	}
	held, unlocked := lock.Acquire(ctx, dir.Root(), MachinesFile+lockEnd, lock.Options{})
	switch {
	case unlocked == nil:
		defer func() { err = errors.Join(err, held.Unlock()) }()
	case errors.Is(unlocked, lock.ErrBusy), ctx.Err() != nil:
		return "", unlocked
	}
	for range machinesTries {
		f, err := readMachines(dir)
		if err != nil {
			return "", err
		}
		if id := f.idOf(m); id != "" {
			return id, nil
		}
		if unlocked != nil {
			return "", fmt.Errorf("%w: %w", ErrNotRecorded, unlocked)
		}
		taken := map[string]bool{}
		for _, other := range f.all {
			taken[other.ID] = true
		}
		if m.ID, err = choose(taken); err != nil {
			return "", err
		}
		if err := f.add(dir, m); !errors.Is(err, fs.ErrExist) {
			return m.ID, err
		}
	}
	return "", damaged(dir)
}

// machines is the content of the file.
type machines struct {
	all   []Machine
	lines []byte // behind the first
}

// idOf returns the device of a machine; "" for none.
func (f *machines) idOf(m Machine) string {
	for _, is := range f.all {
		if is.Key == m.Key && is.Place == m.Place {
			return is.ID
		}
	}
	return ""
}

// machinesHead is the first line of the file.
type machinesHead struct {
	V        int `json:"v"`
	Machines int `json:"machines"`
}

// readMachines reads the file; where there is none, there are no machines.
func readMachines(dir *vfs.Dir) (f machines, err error) {
	file, err := dir.OpenRead(MachinesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	data, err := io.ReadAll(io.LimitReader(file, largest))
	if err = errors.Join(err, file.Close()); err != nil {
		return f, err
	}
	var h machinesHead
	n := cutLine(data, &h)
	data = data[n:]
	f.lines = data
	for n > 0 && len(f.all) < h.Machines {
		var m Machine
		n = cutLine(data, &m)
		data = data[n:]
		f.all = append(f.all, m)
	}
	if n == 0 || len(data) > 0 || h.V != version || h.Machines == 0 {
		return f, damaged(dir)
	}
	return f, nil
}

// add writes the file with one machine more. The error Is [fs.ErrExist] if it is the
// first machine and another machine has made the file in between.
func (f *machines) add(dir *vfs.Dir, m Machine) error {
	text, err := appendLine(nil, &machinesHead{version, len(f.all) + 1})
	if err == nil {
		text, err = appendLine(append(text, f.lines...), &m)
	}
	if err != nil {
		return err
	}
	p, err := dir.Prepare(MachinesFile, true, time.Now(), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecorded, err)
	}
	defer p.Discard() // its temporary name
	if len(f.all) == 0 {
		// A file server may show a machine late that another one has made the file.
		err = dir.Link(p.Name(), MachinesFile)
	}
	if len(f.all) > 0 || err != nil && !errors.Is(err, fs.ErrExist) { // not all file systems have links
		err = p.Rename(MachinesFile)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotRecorded, err)
	}
	return dir.Sync()
}

// Devices returns the devices of the place that have states here.
func (s *States) Devices() (map[string]bool, error) {
	all := map[string]bool{}
	return all, s.with(func(dir *vfs.Dir) error {
		names, err := fs.Glob(dir.Root().FS(), "*.json")
		for _, name := range names {
			var st struct{ Place, Device string }
			text, unread := dir.Root().ReadFile(name)
			if unread == nil && json.Unmarshal(text, &st) == nil && st.Place == s.place {
				all[st.Device] = true
			}
		}
		return err
	})
}
