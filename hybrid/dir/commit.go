package dir

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Commit implements [remote.Remote]. Each object is stored by itself. It does not tell of what
// moves: a file may be durable long after it was written.
func (r *Remote) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	return within(ctx, r, func(top *vfs.Dir) (remote.Version, error) {
		if err := remote.CheckSizes(objects, swap); err != nil {
			return "", err
		}
		d, err := r.open(top, "p-"+part, true)
		if err != nil {
			return "", err
		}
		defer func() { _ = d.Close() }() // the written files are durable
		for i := range objects {
			if err := r.store(d, &objects[i]); err != nil {
				return "", err
			}
		}
		if len(objects) > 0 {
			err = d.Sync()
		}
		if err != nil || swap == nil {
			return "", err
		}
		v, err := r.swap(d, swap)
		if err == nil {
			removeAll(context.Background(), d, swap.Remove)
		}
		return v, err
	})
}

// longWrite is the longest time from a file's own time to its name. A later file is
// written anew, since the age of an object says how long it has been there.
const longWrite = time.Minute

// repeatFor is how long after its first try a request is made again. Later, another device may have
// removed what it stores.
const repeatFor = time.Hour

// store stores an object under a drawn name.
func (r *Remote) store(d *vfs.Dir, o *remote.Object) error {
	for {
		start := time.Now().Round(0) // a machine that sleeps counts too
		p, err := r.write(d, "o-"+o.Name, header{Op: rand.Text()}, o)
		if err != nil {
			return err
		}
		err = p.Rename("o-" + o.Name)
		p.Discard()
		switch took := time.Now().Round(0).Sub(start); {
		case err != nil || took < longWrite:
			return err
		case took > repeatFor:
			return fmt.Errorf("%w: an object got its name after %v", remote.ErrUnreachable, took.Round(time.Minute))
		}
	}
}

// swap replaces the object of a fixed name.
func (r *Remote) swap(part *vfs.Dir, s *remote.Swap) (remote.Version, error) {
	d, err := r.open(part, "f-"+s.Name, true)
	if err != nil {
		return "", err
	}
	defer func() { _ = d.Close() }() // the written files are durable
	n, was, o, err := r.newest(context.Background(), d, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if o.Version != s.If {
		return "", remote.ErrChanged
	}
	next := header{Op: rand.Text(), After: was.Op}
	p, err := r.write(d, "next", next, &s.Object)
	if err != nil {
		return "", err
	}
	err = r.name(d, p, numbered(n+1))
	p.Discard()
	if err != nil {
		switch taken, _, found := r.read(context.Background(), d, numbered(n+1), false); {
		case found == nil && taken.Op == next.Op: // an answer was lost
		case found == nil, errors.Is(err, fs.ErrExist) && errors.Is(found, fs.ErrNotExist):
			return "", remote.ErrChanged
		default:
			return "", fmt.Errorf("%w: %w", remote.ErrUnknown, err)
		}
	}
	if err := d.Sync(); err != nil {
		return "", fmt.Errorf("%w: %w", remote.ErrUnknown, err)
	}
	if err := r.won(d, n+1, next.Op); err != nil {
		return "", err
	}
	return remote.Version(next.Op), nil
}

// won returns an error where a higher number shows that the number just taken had been
// taken before, and removed, and that the higher one does not continue this version.
func (r *Remote) won(d *vfs.Dir, n uint64, op string) error {
	all, files, err := numbers(d)
	if err != nil {
		return fmt.Errorf("%w: %w", remote.ErrUnknown, err)
	}
	if len(all) > 0 && all[len(all)-1] > n {
		if next, _, err := r.read(context.Background(), d, numbered(n+1), false); err != nil || next.After != op {
			return remote.ErrChanged
		}
	}
	forget(d, all)
	r.tidy(d, files)
	return nil
}

// The lower numbers that are kept.
const (
	kept    = 32
	keptFor = time.Hour
)

// forget removes numbers that have not been the highest for long.
func forget(d *vfs.Dir, all []uint64) {
	if len(all) <= kept {
		return
	}
	newest, err := d.Root().Lstat(numbered(all[len(all)-1]))
	for _, n := range all[:len(all)-kept] {
		at, failed := d.Root().Lstat(numbered(n + 1))
		if err != nil || failed != nil || newest.ModTime().Sub(at.ModTime()) < keptFor {
			return
		}
		_ = d.Remove(numbered(n)) // otherwise another swap does
	}
}

// newest reads the highest number of the directory of a fixed name. The error Is
// [fs.ErrNotExist] where it has none.
func (r *Remote) newest(ctx context.Context, d *vfs.Dir, whole bool) (n uint64, h header, o remote.Object, err error) {
	all, _, err := numbers(d)
	if err != nil {
		return 0, h, o, err
	}
	if len(all) == 0 {
		return 0, h, o, fs.ErrNotExist
	}
	n = all[len(all)-1]
	h, o, err = r.read(ctx, d, numbered(n), whole)
	if errors.Is(err, fs.ErrNotExist) { // the highest is never removed
		err = fmt.Errorf("%s: it is listed and not there", numbered(n))
	}
	return n, h, o, err
}

func numbered(n uint64) string { return fmt.Sprintf("%016x", n) }

// numbers returns the numbers of versions in a directory, the lowest first, and the names
// of all its files.
func numbers(d *vfs.Dir) (all []uint64, files []string, err error) {
	files, err = d.NamesIn(".")
	for _, name := range files {
		if n, err := strconv.ParseUint(name, 16, 64); err == nil && name == numbered(n) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, files, err
}

// Delete implements [remote.Remote].
func (r *Remote) Delete(ctx context.Context, part string, names []string) error {
	remote.Moved(ctx)
	_, err := within(ctx, r, func(top *vfs.Dir) (none struct{}, err error) {
		d, err := r.open(top, "p-"+part, false)
		if err == nil {
			err = errors.Join(removeAll(ctx, d, names), d.Close())
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return none, err
	})
	return err
}

// removeAll removes objects with drawn names.
func removeAll(ctx context.Context, d *vfs.Dir, names []string) error {
	var failed []error
	for _, name := range names {
		if err := d.Remove("o-" + name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
		remote.Moved(ctx)
	}
	if len(names) > 0 {
		failed = append(failed, d.Sync())
	}
	return errors.Join(failed...)
}
