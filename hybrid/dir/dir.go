package dir

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Remote is a directory. Its methods may be called by many goroutines.
type Remote struct {
	path     string
	identity string
	links    bool // files get their names by links, and not by renames

	work sync.WaitGroup // calls under way

	mu      sync.Mutex          // guards the fields below
	root    *vfs.Dir            // the directory
	lost    bool                // the last call did not reach it
	last    time.Time           // last known time of the file server
	asked   time.Time           // when that was read
	durable map[string]struct{} // directories whose names are durable
	left    int                 // calls whose contexts ended before the file server answered
}

// identityFile has the identity of the remote, which Provision draws.
const identityFile = "sessionstorage-remote"

// Provision makes a remote of a directory, which it makes where it is missing. A
// directory that is a remote stays as it is; a directory with anything else in it is
// refused, and so are directories that Open refuses. Provision waits as Open does.
func Provision(ctx context.Context, place string) error {
	_, err := answered(ctx, place, func() (*Remote, error) { return nil, provision(place) })
	return err
}

func provision(place string) error {
	path, trusted := strings.CutSuffix(place, trust)
	if err := mkdir(path); err != nil {
		return fmt.Errorf("provision %s: %w", path, err)
	}
	r, err := openRoot(path, trusted, nil)
	if err != nil {
		return fmt.Errorf("provision %s: %w", path, err)
	}
	defer func() { _ = r.root.Close() }()
	names, err := r.root.NamesIn(".")
	if err != nil {
		return fmt.Errorf("provision %s: %w", path, err)
	}
	if _, err := identityOf(r.root); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, ".") && name != "lost+found" {
			return fmt.Errorf("provision %s: %w: it is not empty, and no remote: give a new directory", path, remote.ErrBlocked)
		}
	}
	p, err := r.root.Prepare(identityFile, true, time.Time{}, func(w io.Writer) error {
		_, err := io.WriteString(w, rand.Text()+"\n")
		return err
	})
	if err != nil {
		return fmt.Errorf("provision %s: %w", path, err)
	}
	defer p.Discard()
	if err := r.name(r.root, p, identityFile); err != nil && !errors.Is(err, fs.ErrExist) { // another process made it
		return fmt.Errorf("provision %s: %w", path, err)
	}
	return r.root.Sync()
}

// mkdir makes a directory where it is missing.
func mkdir(path string) error {
	root, err := os.OpenRoot(filepath.Dir(filepath.Clean(path)))
	if err != nil {
		return err
	}
	in := vfs.New(root, nil)
	defer func() { _ = in.Close() }() // the new directory is durable
	if err := in.Mkdir(filepath.Base(path)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return in.Sync()
}

// Open opens the remote that Provision made of a directory. The error Is
// [remote.ErrBlocked] where the package's documentation lists the directory as refused,
// and [remote.ErrUnreachable] where the file server fails, or does not answer until ctx
// ends: give ctx a limit where a program must not wait for a dead mount. The work that
// Open had begun ends when the file server answers.
func Open(ctx context.Context, place string) (*Remote, error) {
	return answered(ctx, place, func() (*Remote, error) { return open(place, nil) })
}

// answered returns the result of open, unless ctx ends first.
func answered(ctx context.Context, place string, open func() (*Remote, error)) (*Remote, error) {
	type opened struct {
		r   *Remote
		err error
	}
	done := make(chan opened)
	go func() { // nothing ends a call to a file server
		r, err := open()
		select {
		case done <- opened{r, err}:
		case <-ctx.Done():
			if r != nil {
				_ = r.Close() // it was not used
			}
		}
	}()
	select {
	case o := <-done:
		if passes(o.err) {
			o.err = reason(o.err)
		}
		return o.r, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("open remote %s: %w", place, &remote.Unreachable{Err: ctx.Err()})
	}
}

const unmounted = "is what belongs there not mounted? A new remote is made by Provision"

func open(place string, s *seam.Seam) (*Remote, error) {
	path, trusted := strings.CutSuffix(place, trust)
	r, err := openRoot(path, trusted, s)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w: "+unmounted, remote.ErrBlocked, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open remote %s: %w", path, err)
	}
	if r.identity, err = identityOf(r.root); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: it has no file %s: "+unmounted, remote.ErrBlocked, identityFile)
		}
		return nil, errors.Join(fmt.Errorf("open remote %s: %w", path, err), r.root.Close())
	}
	if _, err := r.touch(r.root); err == nil {
		files, _ := r.root.NamesIn(".") // another process tidies files that it cannot read
		r.tidy(r.root, files)
	}
	return r, nil
}

// openRoot opens a directory that may be a remote.
func openRoot(path string, trusted bool, s *seam.Seam) (*Remote, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, err
	}
	if err := refuse(path, trusted); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	r := &Remote{root: vfs.New(root, s), path: path}
	if err := r.try(); err != nil {
		return nil, errors.Join(err, r.root.Close())
	}
	return r, nil
}

// top returns the directory. Where the last call did not reach it, top opens it anew: the
// mount there may have been renewed. Calls under way keep their directory, which the
// garbage collector closes.
func (r *Remote) top() (*vfs.Dir, error) {
	r.mu.Lock()
	was, lost := r.root, r.lost
	r.mu.Unlock()
	if !lost {
		return was, nil
	}
	root, err := os.OpenRoot(r.path)
	if err != nil {
		return nil, err
	}
	d := was.At(root)
	id, err := identityOf(d)
	if err == nil && id != r.identity {
		err = errors.New("another remote is there now: is what belongs there not mounted?")
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.root, r.lost, r.durable = d, false, nil
	return d, nil
}

func identityOf(root *vfs.Dir) (string, error) {
	text, err := root.Root().ReadFile(identityFile)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	if len(id) < 16 {
		return "", fmt.Errorf("%w: its file %s is damaged", remote.ErrBlocked, identityFile)
	}
	return id, nil
}

// Path returns the directory, without links.
func (r *Remote) Path() string { return r.path }

// Close waits for the work of calls that returned before its end, and releases the
// directory. No method may be called after it.
func (r *Remote) Close() error {
	r.work.Wait()
	return r.root.Close()
}

// Info implements [remote.Remote]. The time is the time of a new file, where no other
// file showed it within the last second.
func (r *Remote) Info(ctx context.Context) (remote.Info, error) {
	info := remote.Info{Identity: r.identity}
	r.mu.Lock()
	info.Time = r.last
	fresh := time.Since(r.asked).Abs() < time.Second
	r.mu.Unlock()
	if fresh {
		return info, nil
	}
	at, err := within(ctx, r, r.touch)
	if err == nil {
		info.Time = at
	}
	return info, err
}

// touch reads the time of the file server from a new file.
func (r *Remote) touch(top *vfs.Dir) (time.Time, error) {
	p, err := top.Prepare("time", false, time.Time{}, func(io.Writer) error { return nil })
	if err != nil {
		return time.Time{}, err
	}
	defer p.Discard()
	at, err := p.File().Stat()
	if err != nil {
		return time.Time{}, err
	}
	return r.note(at.ModTime()), nil
}

// note records a time of the file server.
func (r *Remote) note(at time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.last = time.Now(), at.UTC()
	return r.last
}

// within makes a call, and reports it to the observer of ctx. Where ctx ends first, it
// does not wait for the file server. While that owes too many answers, no call is made.
func within[T any](ctx context.Context, r *Remote, call func(top *vfs.Dir) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	start := time.Now()
	out := result{err: ctx.Err()}
	if out.err == nil {
		out.err = r.leave(0)
	}
	if out.err == nil {
		done := make(chan result, 1)
		r.work.Go(func() {
			var value T
			top, err := r.top()
			if err == nil {
				value, err = call(top)
			}
			err = reason(err)
			if errors.Is(err, remote.ErrUnreachable) {
				r.loses()
			}
			done <- result{value, err}
		})
		select {
		case out = <-done:
		case <-ctx.Done():
			out.err = fmt.Errorf("%w: %w", remote.ErrUnknown, context.Cause(ctx))
			_ = r.leave(1)
			go func() {
				<-done
				_ = r.leave(-1)
			}()
		}
	}
	remote.Observe(ctx, remote.Request{Start: start, Err: out.err})
	return out.value, out.err
}

// maxLeft is the number of calls for which the file server owes an answer that nobody waits for,
// from which on it is asked nothing.
const maxLeft = 4

// leave counts such calls, and returns an error where they are too many.
func (r *Remote) leave(n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left += n; r.left < maxLeft {
		return nil
	}
	return &remote.Unreachable{Kind: remote.Away, Err: fmt.Errorf("the file server has not answered %d calls, and is asked again when it answers one: is its mount dead?", r.left)}
}

func (r *Remote) loses() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = true
}

// reason wraps an error in the matching error of package remote.
func reason(err error) error {
	for _, known := range []error{remote.ErrNotExist, remote.ErrUnchanged, remote.ErrChanged, remote.ErrUnknown, remote.ErrTooLarge, remote.ErrBlocked, context.Canceled, context.DeadlineExceeded} {
		if err == nil || errors.Is(err, known) {
			return err
		}
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: %w", remote.ErrBlocked, err)
	}
	return fmt.Errorf("%w: %w", remote.ErrUnreachable, err)
}

// maxDurable is the largest number of directories whose names are known to be durable.
const maxDurable = 10_000

// open opens a directory of the remote. With create, its name is durable, also when
// another process has just made it.
func (r *Remote) open(in *vfs.Dir, name string, create bool) (*vfs.Dir, error) {
	root, err := in.Root().OpenRoot(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = in.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		root, err = in.Root().OpenRoot(name)
	}
	if err != nil {
		return nil, err
	}
	d := in.At(root)
	if !create {
		return d, nil
	}
	if err := r.finish(in, root.Name()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// finish makes the name of a directory durable.
func (r *Remote) finish(in *vfs.Dir, name string) error {
	r.mu.Lock()
	_, known := r.durable[name]
	r.mu.Unlock()
	if known {
		return nil
	}
	if err := in.Sync(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.durable == nil || len(r.durable) >= maxDurable {
		r.durable = map[string]struct{}{}
	}
	r.durable[name] = struct{}{}
	return nil
}
