package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Get implements [remote.Remote].
func (r *Remote) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	remote.Moved(ctx)
	return within(ctx, r, func(top *vfs.Dir) (o remote.Object, err error) {
		d, err := r.open(top, "p-"+part, false)
		if err == nil {
			defer func() { _ = d.Close() }() // only read
			o, err = r.get(ctx, d, name, true)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return remote.Object{}, remote.ErrNotExist
		case err == nil && o.Version == known:
			return remote.Object{}, remote.ErrUnchanged
		}
		return o, err
	})
}

// get reads the object of a name from its part.
func (r *Remote) get(ctx context.Context, part *vfs.Dir, name string, whole bool) (o remote.Object, err error) {
	_, o, err = r.read(ctx, part, "o-"+name, whole)
	if errors.Is(err, fs.ErrNotExist) {
		o, err = r.getFixed(ctx, part, name, whole)
	}
	o.Name = name
	return o, err
}

// getFixed reads the newest version of a fixed name. Its time is at least the time of its
// directory: a file may have waited for its number.
func (r *Remote) getFixed(ctx context.Context, part *vfs.Dir, name string, whole bool) (o remote.Object, err error) {
	d, err := r.open(part, "f-"+name, false)
	if err != nil {
		return o, err
	}
	defer func() { _ = d.Close() }() // only read
	_, _, o, err = r.newest(ctx, d, whole)
	if err != nil {
		return o, err
	}
	at, err := d.Root().Stat(".")
	if err == nil && at.ModTime().After(o.Time) {
		o.Time = at.ModTime().UTC()
	}
	return o, err
}

// plain are the names of objects. Other programs leave files of their own.
var plain = regexp.MustCompile(`^[a-z0-9-]+$`)

// List implements [remote.Remote].
func (r *Remote) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		remote.Moved(ctx)
		all, err := within(ctx, r, func(top *vfs.Dir) ([]remote.Object, error) { return r.list(ctx, top, part, &q) })
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
		if err != nil {
			yield(remote.Object{}, err)
		}
	}
}

// list returns the objects of a list. With an error it returns the objects before it.
func (r *Remote) list(ctx context.Context, top *vfs.Dir, part string, q *remote.Query) (all []remote.Object, err error) {
	d, err := r.open(top, "p-"+part, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // only read
	files, err := d.NamesIn(".")
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	var names []string
	for _, file := range files {
		remote.Moved(ctx)
		kind, name, _ := strings.Cut(file, "-")
		if (kind == "o" || kind == "f") && plain.MatchString(name) && strings.HasPrefix(name, q.Prefix) && name > q.After && r.since(d, file, q.Since) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	r.tidy(d, files)
	for _, name := range names {
		o, err := r.get(ctx, d, name, false)
		switch {
		case ctx.Err() != nil:
			return all, ctx.Err()
		case errors.Is(err, fs.ErrNotExist): // it was removed since
		case err != nil:
			return all, err
		case !o.Time.Before(q.Since):
			all = append(all, o)
		}
	}
	return all, nil
}

// since reports whether an object in a file or directory may have been stored at a time
// or later. Where there are no links, as on FAT, a directory may have no time of its last
// change.
func (r *Remote) since(d *vfs.Dir, file string, at time.Time) bool {
	if at.IsZero() {
		return true
	}
	found, err := d.Root().Lstat(file)
	return err != nil || found.IsDir() && !r.links || !found.ModTime().Before(at)
}

// waiting matches the names of files that wait for their own.
var waiting = regexp.MustCompile(`^\.(o-[a-z0-9-]*|next|time|try|tried\.try)[0-9]+$`)

// tidy removes, of the given files of a directory, those whose writers ended a day ago.
func (r *Remote) tidy(d *vfs.Dir, files []string) {
	r.mu.Lock()
	now := r.last
	r.mu.Unlock()
	for _, file := range files {
		if !waiting.MatchString(file) {
			continue
		}
		at, err := d.Root().Lstat(file)
		if err == nil && at.Mode().IsRegular() && now.Sub(at.ModTime()) > 24*time.Hour {
			_ = d.Remove(file) // otherwise another list does
		}
	}
}
