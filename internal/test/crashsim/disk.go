package crashsim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// maxFile is the size from which a file is too large for the model.
const maxFile = 1 << 30

// A disk is a model of a file system: inodes, the names that are durable, and
// the names as processes see them.
//
// A sync of a file makes its content durable, not its name. A sync of a
// directory makes the names in it durable; a rename between two directories
// is durable as soon as either is synced, with all that it relies upon.
type disk struct {
	inodes            []*inode
	durable, volatile tree
	moves             []move // the moves from durable to volatile, oldest first
	ordered           bool   // names become durable in order and with any sync
	steps             int    // operations done
}

// clone returns a copy that can be changed on its own.
func (d *disk) clone() *disk {
	c := &disk{
		durable: maps.Clone(d.durable), volatile: maps.Clone(d.volatile),
		moves: slices.Clone(d.moves), ordered: d.ordered, steps: d.steps,
	}
	for _, n := range d.inodes {
		c.inodes = append(c.inodes, &inode{n.durable, slices.Clone(n.changes)})
	}
	return c
}

func (d *disk) isDir(inode int) bool { return d.inodes[inode].durable.mode.IsDir() }

// add makes an inode that has no name yet.
func (d *disk) add(c content) int {
	c.sum = sha256.Sum256(c.data)
	d.inodes = append(d.inodes, &inode{durable: c})
	return len(d.inodes) - 1
}

// step does one recorded operation.
func (d *disk) step(s Step) error {
	d.steps++
	if err := d.do(s); err != nil {
		return fmt.Errorf("replay %v: %w", s, err)
	}
	return nil
}

func (d *disk) do(s Step) error {
	switch s.Kind {
	case seam.Mkdir, seam.Create, seam.Rename, seam.Exchange, seam.Link, seam.Remove:
		return d.name(s)
	case seam.RemoveAll:
		return d.removeAll(s)
	}
	n, ok := d.volatile.find(s.Path)
	if !ok {
		return fs.ErrNotExist
	}
	if d.isDir(n) {
		return d.doDir(s, n)
	}
	f := d.inodes[n]
	switch s.Kind {
	case seam.Write, seam.Truncate, seam.Chtimes:
		if s.Off < 0 || s.Off > maxFile-int64(len(s.Data)) {
			return errors.New("offset out of range")
		}
		f.changes = append(f.changes, change{kind: s.Kind, off: s.Off, data: s.Data, time: s.Time})
	case seam.Sync:
		f.settle(s.Failed)
		if d.ordered && !s.Failed {
			d.commit(n)
		}
	default:
		return errors.New("not for a file")
	}
	return nil
}

// doDir does an operation on a directory itself.
func (d *disk) doDir(s Step, n int) error {
	switch s.Kind {
	case seam.Chtimes:
		d.volatile[n] = folder{d.volatile[n].names, s.Time}
		d.durable[n] = folder{d.durable[n].names, s.Time}
	case seam.SyncDir:
		if !s.Failed {
			d.commit(n)
		}
	default:
		return errors.New("not for a directory")
	}
	return nil
}

// name does an operation on names.
func (d *disk) name(s Step) error {
	m, err := d.move(s)
	if err != nil {
		return err
	}
	if s.Kind == seam.Rename && d.volatile.denotes(m.set[1].dir, m.set[1].name) == m.inode {
		return nil // as POSIX: two names of one file both stay
	}
	if !d.volatile.allows(m, d.isDir) {
		return errors.New("names do not allow it")
	}
	d.volatile.apply(m)
	d.moves = append(d.moves, m)
	return nil
}

// move resolves the names of a step.
func (d *disk) move(s Step) (move, error) {
	from, err := d.bound(s.Path)
	if err != nil {
		return move{}, err
	}
	m := move{
		step: d.steps, kind: s.Kind, inode: from.inode, need: []binding{from}, set: []binding{from},
		times: []time.Time{s.DirTime, s.ToTime}, touches: []int{from.dir},
	}
	if s.Kind == seam.Mkdir || s.Kind == seam.Create {
		m.inode = d.add(content{mode: s.Mode, time: s.Time})
		m.need[0].inode, m.set[0].inode = root, m.inode
		if s.Kind == seam.Mkdir {
			d.volatile[m.inode], d.durable[m.inode] = folder{time: s.Time}, folder{time: s.Time}
		}
		return m, nil
	}
	if from.inode == root {
		return move{}, fs.ErrNotExist
	}
	if s.Kind == seam.Remove {
		m.set[0].inode = root
		m.touches = append(m.touches, from.inode)
		return m, nil
	}
	return d.moveTo(m, s.To)
}

// moveTo completes a move that has a second name.
func (d *disk) moveTo(m move, name string) (move, error) {
	to, err := d.bound(name)
	if err != nil {
		return move{}, err
	}
	after := binding{to.dir, to.name, m.inode}
	switch m.kind {
	case seam.Rename:
		m.set[0].inode = root
		if to.inode != root {
			m.touches = append(m.touches, to.inode)
		}
	case seam.Exchange:
		if to.inode == root {
			return move{}, fs.ErrNotExist
		}
		m.set[0].inode = to.inode
		m.need = append(m.need, to)
	case seam.Link:
		m.need = append(m.need, binding{to.dir, to.name, root})
		m.set, m.times, m.touches = nil, m.times[1:], nil // its first name stays as it is
	}
	m.set = append(m.set, after)
	m.touches = append(m.touches, to.dir)
	return m, nil
}

// bound returns the binding of the last element of a path in its directory.
func (d *disk) bound(name string) (binding, error) {
	dir, ok := d.volatile.find(path.Dir(name))
	if !ok {
		return binding{}, fs.ErrNotExist
	}
	base := path.Base(name)
	if base == "." {
		return binding{}, errors.New("base directory has no name")
	}
	return binding{dir, base, d.volatile.denotes(dir, base)}, nil
}

// removeAll removes everything below s.Path, then s.Path, one by one.
func (d *disk) removeAll(s Step) error {
	b, err := d.bound(s.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && b.inode == root {
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(d.volatile.appendPlaces(nil, b.inode, s.Path)) {
		if err := d.name(Step{Kind: seam.Remove, Path: p.path, DirTime: s.DirTime}); err != nil {
			return err
		}
	}
	return d.name(Step{Kind: seam.Remove, Path: s.Path, DirTime: s.DirTime})
}

// commit makes durable the moves that a sync of inode n vouches for: those in
// directory n and those that they rely upon, or all on an ordered disk.
func (d *disk) commit(n int) {
	reached := map[int]bool{n: true}
	var due, rest []move
	for _, m := range slices.Backward(d.moves) {
		if !d.ordered && !slices.ContainsFunc(m.touches, func(dir int) bool { return reached[dir] }) {
			rest = append(rest, m)
			continue
		}
		due = append(due, m)
		for _, dir := range m.touches {
			reached[dir] = true
		}
	}
	for _, m := range slices.Backward(due) {
		d.durable.apply(m)
	}
	slices.Reverse(rest)
	d.moves = rest
}
