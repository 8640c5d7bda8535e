package hybrid

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// doors are the ways of the devices to a remote that is no server which can have faults: each
// has those of the server at the calls of its methods, as far as they mean something there.
type doors struct {
	w     *world
	base  remote.Remote // with no device in between
	info  remote.Info
	open  func(*life) (remote.Remote, func())
	parts map[string]bool

	mu      sync.Mutex // guards what follows
	plan    cosmostest.Plan
	calls   int
	late    []echo
	changes []change
	known   map[[3]string]segment.Document // by partition, id and version
}

// echo is a call that is made once more.
type echo struct {
	due  int // with this call
	make func()
}

// change is what a call changed.
type change struct {
	part string
	was  map[string]*remote.Object // nil: there was none
}

// newDoors returns the ways to a remote, of which whole says whether it commits as much at once as
// it says, else nothing.
func newDoors(w *world, base remote.Remote, whole bool, open func(*life) (remote.Remote, func())) *doors {
	info, err := base.Info(context.Background())
	require.NoError(w.t, err)
	if !whole {
		info.Batch = remote.Batch{}
	}
	return &doors{w: w, base: base, info: info, open: open, parts: map[string]bool{}, known: map[[3]string]segment.Document{}}
}

func (s *doors) inject(p cosmostest.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = p
}

func (s *doors) held() (all []held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := context.Background()
	for _, part := range slices.Sorted(maps.Keys(s.parts)) {
		for o, err := range s.base.List(ctx, part, remote.Query{}) {
			require.NoError(s.w.t, err)
			key := [3]string{part, o.Name, string(o.Version)}
			doc, known := s.known[key]
			if !known {
				o, err := s.base.Get(ctx, part, o.Name, "")
				require.NoError(s.w.t, err)
				doc = document(part, &o)
				s.known[key] = doc
			}
			all = append(all, held{doc, string(o.Version)})
		}
	}
	return all
}

func (s *doors) connect(l *life) remote.Remote {
	d := &door{doors: s, life: l}
	d.inner, l.end = s.open(l)
	return d
}

// door is the way of one device.
type door struct {
	*doors
	life  *life
	inner remote.Remote
	seen  int // of the changes; guarded by mu
}

// do makes a call with a remote.
type do func(ctx context.Context, to remote.Remote, f cosmostest.Fault) (remote.Version, error)

// call makes a call when it is its turn. Its names are those of the objects that it is about.
func (d *door) call(ctx context.Context, op cosmostest.Op, part string, names []string, made do) (v remote.Version, err error) {
	id := strings.Join(names, " ")
	if err := d.life.order.begin(ctx, d.life.name, fmt.Sprint(op, " ", part, " ", id)); err != nil {
		return "", context.Cause(ctx)
	}
	defer d.life.order.end(d.life.name)
	defer func() {
		d.w.trace.note("%d %s %s %s %s: %s", time.Since(simStart), d.life.name, op, part, id, outcome(err))
	}()
	offline, refusal := d.life.network()
	if offline {
		return "", &remote.Unreachable{Err: errNoNetwork, Kind: remote.Away}
	}
	if err := d.life.step(); err != nil {
		return "", lost(op, err)
	}
	f, _ := d.arrive(op, part, id)
	if refusal != 0 {
		f = cosmostest.Refuse(refusal, 0)
	}
	v, err = d.undergo(ctx, op, part, names, f, made)
	if gone := d.life.step(); gone != nil {
		err = lost(op, gone)
	}
	return v, err
}

// undergo makes a call with its fault.
func (d *door) undergo(ctx context.Context, op cosmostest.Op, part string, names []string, f cosmostest.Fault, made do) (v remote.Version, err error) {
	if f.Delay > 0 {
		if err := d.w.sleep(ctx, f.Delay); err != nil {
			return "", err
		}
	}
	if f.Echo > 0 && op.Writes() {
		defer d.echoes(f.Echo, part, names, made)
	}
	switch {
	case f.Status != 0:
		return "", refused(op, f)
	case f.Drop:
		return "", lost(op, errors.New("dropped"))
	case op.Writes():
		v, err = d.write(ctx, part, names, f, made)
	default:
		v, err = made(ctx, d.reads(part, f.Stale), f)
	}
	if f.Hold > 0 && d.w.sleep(ctx, f.Hold) != nil || f.Lose {
		return "", lost(op, errors.New("the answer is lost"))
	}
	return v, err
}

// write makes a call that changes something, perhaps twice.
func (d *door) write(ctx context.Context, part string, names []string, f cosmostest.Fault, made do) (v remote.Version, err error) {
	was := d.was(part, names)
	v, err = made(ctx, d.inner, f)
	if f.Retried {
		v, err = made(ctx, d.inner, f)
	}
	d.changed(part, was)
	d.mu.Lock()
	d.seen = len(d.changes)
	d.mu.Unlock()
	return v, err
}

// was returns what objects are that may change.
func (s *doors) was(part string, names []string) map[string]*remote.Object {
	all := map[string]*remote.Object{}
	for _, name := range names {
		o, err := s.base.Get(context.Background(), part, name, "")
		if err == nil {
			all[name] = &o
			continue
		}
		require.ErrorIs(s.w.t, err, remote.ErrNotExist)
		all[name] = nil
	}
	return all
}

// changed takes note of a change, and lets the reader look at it.
func (s *doors) changed(part string, was map[string]*remote.Object) {
	s.mu.Lock()
	s.parts[part] = true
	s.changes = append(s.changes, change{part, was})
	about := fmt.Sprintf("call %d", s.calls)
	s.mu.Unlock()
	if strings.HasPrefix(part, "s-") {
		s.w.reader.look(about)
	}
}

// echoes makes a call once more when so many further ones came.
func (s *doors) echoes(n int, part string, names []string, made do) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, echo{s.calls + n, func() {
		was := s.was(part, names)
		_, _ = made(context.Background(), s.base, cosmostest.Fault{}) // nobody hears of it
		s.changed(part, was)
	}})
}

// arrive counts a call, and returns its fault, and whether any has one. What is to come once more
// before it is made.
func (s *doors) arrive(op cosmostest.Op, part, id string) (f cosmostest.Fault, stormy bool) {
	s.mu.Lock()
	if op != opFile {
		s.calls++
	}
	n := s.calls
	if stormy = s.plan != nil; stormy {
		f = s.plan(cosmostest.Request{N: n, Op: op, Partition: fmt.Sprintf("[%q]", part), ID: id, At: time.Now()})
	}
	var due []echo
	s.late = slices.DeleteFunc(s.late, func(e echo) bool {
		if e.due <= n {
			due = append(due, e)
		}
		return e.due <= n
	})
	s.mu.Unlock()
	for _, e := range due {
		e.make()
	}
	return f, stormy
}

// reads returns what a device reads from: as it is now, or without the newest changes, as far as the
// device has not seen these.
func (d *door) reads(part string, stale int) remote.Remote {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = max(d.seen, len(d.changes)-min(stale, cosmostest.MaxStale))
	was := map[string]*remote.Object{}
	for _, c := range slices.Backward(d.changes[d.seen:]) {
		if c.part == part {
			maps.Copy(was, c.was)
		}
	}
	return &behind{d.inner, was}
}

// behind is a remote of which some objects are as they were.
type behind struct {
	remote.Remote
	was map[string]*remote.Object // nil: it was not there
}

func (b *behind) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	o, old := b.was[name]
	switch {
	case !old:
		return b.Remote.Get(ctx, part, name, known)
	case o == nil:
		return remote.Object{}, remote.ErrNotExist
	case o.Version == known:
		return remote.Object{}, remote.ErrUnchanged
	}
	return *o, nil
}

func (b *behind) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		all, err := list(b.Remote.List(ctx, part, q))
		all = slices.DeleteFunc(all, func(o remote.Object) bool {
			_, old := b.was[o.Name]
			return old
		})
		for name, o := range b.was {
			if o != nil && strings.HasPrefix(name, q.Prefix) && name > q.After && !o.Time.Before(q.Since) {
				listed := *o
				listed.Body = nil
				all = append(all, listed)
			}
		}
		slices.SortFunc(all, func(a, b remote.Object) int { return cmp.Compare(a.Name, b.Name) })
		yieldAll(all, err, yield)
	}
}

func list(rows iter.Seq2[remote.Object, error]) (all []remote.Object, err error) {
	for o, err := range rows {
		if err != nil {
			return all, err
		}
		all = append(all, o)
	}
	return all, nil
}

func yieldAll(all []remote.Object, err error, yield func(remote.Object, error) bool) {
	for _, o := range all {
		if !yield(o, nil) {
			return
		}
	}
	if err != nil {
		yield(remote.Object{}, err)
	}
}

func (d *door) Info(ctx context.Context) (remote.Info, error) {
	info := d.info
	_, err := d.call(ctx, cosmostest.OpAccount, "", nil, func(ctx context.Context, to remote.Remote, _ cosmostest.Fault) (remote.Version, error) {
		now, err := to.Info(ctx)
		info.Time, info.Complete = now.Time, now.Complete
		return "", err
	})
	return info, err
}

func (d *door) Get(ctx context.Context, part, name string, known remote.Version) (o remote.Object, err error) {
	_, err = d.call(ctx, cosmostest.OpRead, part, []string{name}, func(ctx context.Context, to remote.Remote, _ cosmostest.Fault) (_ remote.Version, err error) {
		o, err = to.Get(ctx, part, name, known)
		return "", err
	})
	if err != nil {
		return remote.Object{}, err
	}
	return o, nil
}

func (d *door) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		var all []remote.Object
		about := []string{q.Prefix, q.After}
		_, err := d.call(ctx, cosmostest.OpQuery, part, about, func(ctx context.Context, to remote.Remote, f cosmostest.Fault) (_ remote.Version, err error) {
			all, err = list(to.List(ctx, part, q))
			if f.Page != 0 && err == nil { // there it is a page with few rows, here the end
				all, err = all[:min(max(0, f.Page), len(all))], lost(cosmostest.OpQuery, errors.New("the list broke off"))
			}
			return "", err
		})
		yieldAll(all, err, yield)
	}
}

func (d *door) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	op, names := cosmostest.OpUpsert, []string(nil)
	sent := slices.Clone(objects)
	for i := range sent {
		names = append(names, sent[i].Name)
		d.sends(&sent[i])
	}
	if swap != nil {
		op, names = cosmostest.OpReplace, append(append(names, swap.Name), swap.Remove...)
		d.sends(&swap.Object)
	}
	return d.call(ctx, op, part, names, func(ctx context.Context, to remote.Remote, f cosmostest.Fault) (remote.Version, error) {
		if f.Operation > 0 && d.info.Batch == (remote.Batch{}) {
			if r, is := to.(*servedRemote); is { // it is broken off in one of its requests
				r.loses = f.Operation
				defer func() { r.loses = 0 }()
				return to.Commit(ctx, part, sent, swap)
			}
			_, err := to.Commit(ctx, part, sent[:min(f.Operation-1, len(sent))], nil)
			return "", cmp.Or(err, lost(op, errors.New("broken off between two objects")))
		}
		return to.Commit(ctx, part, sent, swap)
	})
}

func (d *door) Delete(ctx context.Context, part string, names []string) error {
	_, err := d.call(ctx, cosmostest.OpDelete, part, names, func(ctx context.Context, to remote.Remote, _ cosmostest.Fault) (remote.Version, error) {
		return "", to.Delete(ctx, part, names)
	})
	return err
}

// sends looks at an object that leaves a device.
func (d *door) sends(o *remote.Object) {
	if err := d.w.reader.never(bytes.Join([][]byte{o.Label, o.Body}, nil)); err != nil {
		d.w.reader.blame(fmt.Sprintf("%s, which %s sends: %v", o.Name, d.life.name, err))
	}
}

// lost is the error of a call of which nobody knows what became.
func lost(op cosmostest.Op, why error) error {
	err := error(&remote.Unreachable{Err: why})
	if op == cosmostest.OpReplace {
		err = fmt.Errorf("%w: %w", remote.ErrUnknown, err)
	}
	return err
}

// refused is the error of a call that meets a fault with a status, as package cosmos explains it.
func refused(op cosmostest.Op, f cosmostest.Fault) error {
	why := fmt.Errorf("status %d", f.Status)
	is := error(nil)
	switch {
	case f.Status == http.StatusPreconditionFailed:
		is = remote.ErrChanged
	case f.Status == http.StatusRequestEntityTooLarge:
		is = remote.ErrTooLarge
	case f.Status == http.StatusForbidden && f.SubStatus != 0:
		is = remote.ErrFull
	case f.Status == http.StatusForbidden:
		is = remote.ErrBlocked
	case f.Status == http.StatusUnauthorized:
		is = remote.ErrUnauthorized
	case f.Status == http.StatusTooManyRequests:
		return &remote.Unreachable{Err: why, Kind: remote.Throttled, After: f.RetryAfter}
	default:
		return lost(op, why)
	}
	return fmt.Errorf("%w: %w", is, why)
}

// outcome names an error without what differs from run to run.
func outcome(err error) string {
	for _, known := range []error{
		remote.ErrNotExist, remote.ErrUnchanged, remote.ErrChanged, remote.ErrUnknown, remote.ErrTooLarge, remote.ErrFull,
		remote.ErrBlocked, remote.ErrUnauthorized, remote.ErrUnreachable,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if err != nil {
		return "failed"
	}
	return "done"
}
