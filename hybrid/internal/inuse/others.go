package inuse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Begin makes the files of a new program in dir, under a name that no other program has,
// and takes over the names that dead programs left. The program owns dir from then on,
// and closes it.
func Begin(dir *vfs.Dir, name string) (*Program, error) {
	p := &Program{dir: dir, name: name, named: map[string]line{}, left: map[string]bool{}}
	if err := p.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("tell which sessions are in use: %w", err), p.release(), dir.Close())
	}
	return p, nil
}

func (p *Program) begin() (err error) {
	// Another program that looks at the new file holds its lock for a moment.
	p.lock, err = lock.Acquire(context.Background(), p.dir.Root(), p.name+lockEnding, lock.Options{Perm: vfs.Mode})
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if p.file, _, err = p.dir.Append(p.name + namesEnding); err != nil {
		return err
	}
	_, err = p.others() // names of dead programs are taken over
	return err
}

// Look returns the present use of a session.
func (p *Program) Look(session string) (Use, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().UnixMilli()
	if p.ended {
		return Use{}, limits.Errorf(fs.ErrClosed, "the store is closed")
	}
	others, err := p.others()
	u := Use{}
	for _, names := range others {
		for _, id := range []string{session, all} {
			if l, ok := names[id]; ok {
				u.add(l)
				if used(l, now) && l.Used > u.Others.UnixMilli() {
					u.Others = time.UnixMilli(l.Used)
				}
			}
		}
	}
	for _, id := range []string{session, all} {
		u.add(p.named[id])
		u.Here = u.Here || used(p.named[id], now)
	}
	return u, err
}

// others reads the files of all other programs and returns the names of the living ones.
// The names of the dead ones are this program's from now on. p.mu is held, but for Begin.
func (p *Program) others() (living []map[string]line, err error) {
	entries, err := fs.ReadDir(p.dir.Root().FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), lockEnding)
		if !ok || name == p.name {
			continue
		}
		names, bad := p.other(name)
		if names != nil {
			living = append(living, names)
		}
		err = errors.Join(err, bad)
	}
	return living, err
}

// other returns the names of another program, nil when it is dead.
func (p *Program) other(name string) (map[string]line, error) {
	held, err := lock.Try(p.dir.Root(), name+lockEnding, 0o600)
	switch {
	case errors.Is(err, lock.ErrBusy):
		return p.read(name)
	case errors.Is(err, errors.ErrUnsupported): // it lives as long as its names are young
		return p.young(name)
	case err != nil:
		return nil, err
	}
	names, err := p.read(name)
	if err == nil {
		err = p.adopt(names)
	}
	if err == nil {
		err = p.remove(name + namesEnding)
	}
	if err == nil {
		// While it is locked: a program that begins under the name sees that its file
		// is gone, and makes another.
		err = p.remove(name + lockEnding)
	}
	return nil, errors.Join(err, held.Unlock())
}

// young returns the names of another program where it is unknown whether it lives. Its
// files go once all names are old.
func (p *Program) young(name string) (map[string]line, error) {
	fi, err := p.dir.Root().Stat(name + namesEnding)
	if err == nil && time.Since(fi.ModTime()) > 2*Window {
		return nil, errors.Join(p.remove(name+namesEnding), p.remove(name+lockEnding))
	}
	return p.read(name)
}

// adopt writes the names of the sessions that a dead program wrote into this program's
// file.
func (p *Program) adopt(names map[string]line) error {
	now := time.Now().UnixMilli()
	for id, l := range names {
		own := p.named[id]
		if l.Wrote <= own.Wrote || now-l.Wrote >= Window.Milliseconds() {
			continue
		}
		own.Session, own.Wrote = id, l.Wrote
		if err := p.put(own, now); err != nil {
			return err
		}
		p.left[id] = true
	}
	return nil
}

// read returns the names of a program's file, none when it has no file yet.
func (p *Program) read(name string) (map[string]line, error) {
	names := map[string]line{}
	text, err := p.dir.Root().ReadFile(name + namesEnding)
	if errors.Is(err, fs.ErrNotExist) {
		return names, nil
	}
	if err != nil {
		return nil, err
	}
	for text := range bytes.Lines(text) {
		l := line{}
		if json.Unmarshal(text, &l) == nil { // else it is being written
			names[l.Session] = l
		}
	}
	return names, nil
}
