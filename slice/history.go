package slice

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// position is where a session stands between its changes: the copies that undo and redo
// would bring back one after the other, the next one last.
type position struct{ undo, redo []Backup }

// relation says how the content of a file follows from another one.
type relation uint8

const (
	other relation = iota
	same
	grown // the same with more at its end
)

// positionOf returns the position that copies lead to, which are given oldest first. follows
// reads how the file after follows from the copy before. The package comment has the rules.
func positionOf(copies []Backup, follows func(before, after string) (relation, error)) (p position, err error) {
	for i, b := range copies {
		after := b.file
		if j := slices.IndexFunc(copies[i+1:], func(c Backup) bool { return c.file == b.file }); j >= 0 {
			after = copies[i+1+j].Name
		}
		kept, err := follows(b.Name, after)
		if err != nil {
			return position{}, err
		}
		switch {
		case kept == same: // the change was never made
			continue
		case b.Label != sessiondir.LabelBack && b.Label != sessiondir.LabelForth:
			p = position{undo: append(p.undo, b)}
			continue
		}
		if err := p.passIdle(b.Name, follows); err != nil {
			return position{}, err
		}
		from, to := &p.undo, &p.redo
		if b.Label == sessiondir.LabelForth {
			from, to = to, from
		}
		top := last(*from)
		brought, err := follows(top.Name, after)
		switch {
		case err != nil:
			return position{}, err
		case kept == grown && b.Size > top.Size: // it went on from the copy: the step was never made
			brought = other
		case brought != other:
			*from = (*from)[:len(*from)-1]
		}
		if brought != other || b.Label == sessiondir.LabelForth {
			*to = append(*to, b)
		}
		if brought != same { // another program wrote
			p.redo = nil
		}
	}
	return p, p.passIdle("", follows)
}

// passIdle drops copies that undo would bring next where the content is theirs already: that
// of the file at, or of the main file where at is "".
func (p *position) passIdle(at string, follows func(before, after string) (relation, error)) error {
	for len(p.undo) > 0 {
		top := last(p.undo)
		r, err := follows(top.Name, cmp.Or(at, top.file))
		if r != same {
			return err
		}
		p.undo = p.undo[:len(p.undo)-1]
	}
	return nil
}

// last returns the last of copies, the zero Backup if there are none.
func last(copies []Backup) Backup {
	if len(copies) == 0 {
		return Backup{}
	}
	return copies[len(copies)-1]
}

// Steps returns the copies that [Undo] and [Redo] would bring back one after the other, the
// next one first. It takes no lock. It reads the copies, since what other programs wrote
// counts.
func Steps(ctx context.Context, st *sessionstore.Store, id string) (undo, redo []Backup, err error) {
	var p position
	err = core.Of(st).Read(ctx, id, func(d *sessiondir.Dir) error {
		all, err := backupsIn(d)
		if err == nil {
			p, err = contents{ctx, d}.position(all)
		}
		return err
	})
	if err != nil {
		return nil, nil, wrapError("look for changes of", id, err)
	}
	slices.Reverse(p.undo)
	slices.Reverse(p.redo)
	return p.undo, p.redo, nil
}

// contents compares files of a session.
type contents struct {
	ctx context.Context
	dir *sessiondir.Dir
}

// position is positionOf for copies that are given newest first.
func (c contents) position(newest []Backup) (position, error) {
	oldest := slices.DeleteFunc(slices.Clone(newest), c.torn)
	slices.Reverse(oldest)
	return positionOf(oldest, c.follows)
}

// torn reports whether a copy is of metadata that cannot be read: no name comes back from it.
func (c contents) torn(b Backup) bool {
	if b.file != sessiondir.Metadata {
		return false
	}
	_, err := c.metadata(b.Name)
	return err != nil && c.ctx.Err() == nil
}

// follows compares two files. Of metadata the name counts. A file that is missing, or is no
// file, follows from nothing.
func (c contents) follows(before, after string) (r relation, err error) {
	fileOf := func(name string) string {
		kept, _ := sessiondir.ParseKept(name)
		return cmp.Or(kept.File, name)
	}
	switch file := fileOf(before); {
	case file != fileOf(after):
	case file == sessiondir.Metadata:
		r, err = c.compareNames(before, after)
	default:
		r, err = c.compare(before, after)
	}
	for _, is := range []error{fs.ErrNotExist, fs.ErrPermission, vfs.ErrNotRegular, sessionstore.ErrCorrupt} {
		if errors.Is(err, is) {
			return other, nil
		}
	}
	return r, err
}

// compare reads the first bytes of both files, as many as the file before has.
func (c contents) compare(before, after string) (r relation, err error) {
	a, at, err := c.dir.Open(before)
	if err != nil {
		return other, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, now, err := c.dir.Open(after)
	if err != nil {
		return other, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	this, that := make([]byte, copyBlock), make([]byte, copyBlock)
	for left := at.Size; left > 0 && now.Size >= at.Size; left -= int64(len(this)) {
		this, that = this[:min(left, copyBlock)], that[:min(left, copyBlock)]
		_, err := io.ReadFull(a, this)
		_, berr := io.ReadFull(b, that)
		if err = cmp.Or(c.ctx.Err(), err, berr); err != nil || !bytes.Equal(this, that) {
			return other, err
		}
	}
	switch {
	case now.Size < at.Size:
		return other, nil
	case now.Size > at.Size:
		return grown, nil
	}
	return same, nil
}

func (c contents) compareNames(before, after string) (relation, error) {
	a, err := c.metadata(before)
	b, berr := c.metadata(after)
	if err = cmp.Or(err, berr); err == nil && a.Text("name") == b.Text("name") && a.Text("name_source") == b.Text("name_source") {
		return same, nil
	}
	return other, err
}

func (c contents) metadata(name string) (sessionstore.Metadata, error) {
	data, _, err := c.dir.ReadUntil(c.ctx, name)
	if err != nil {
		return sessionstore.Metadata{}, err
	}
	return sessionstore.ParseMetadata(data)
}
