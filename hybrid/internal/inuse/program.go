package inuse

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// A Program is a running program. Its methods may be called by many goroutines.
type Program struct {
	dir  *vfs.Dir
	name string // of its files, without their endings
	lock *lock.Lock

	mu    sync.Mutex // guards the fields below
	file  *vfs.Append
	size  int64
	live  int64           // of size, the part that mattered when the file was written anew
	torn  bool            // the last write failed: half a line may be at the end
	named map[string]line // sessions that this program used, and that dead ones wrote
	left  map[string]bool // the sessions among them that dead programs wrote, until Noted
	ended bool
}

// Use records, for the other programs, that this program uses a session from now on.
func (p *Program) Use(session string) error { return p.use(session, false) }

// Wrote is [Program.Use] for a program that has just written the transcript.
func (p *Program) Wrote(session string) error { return p.use(session, true) }

func (p *Program) use(session string, wrote bool) error {
	now := time.Now().UnixMilli()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil
	}
	l := p.named[session]
	if recent(l.Used, now) && (!wrote || recent(l.Wrote, now)) {
		return nil
	}
	l.Session, l.Used = session, now
	if wrote {
		l.Wrote = now
		delete(p.left, session)
	}
	return p.put(l, now)
}

// put writes a line and remembers it. p.mu is held.
func (p *Program) put(l line, now int64) error {
	if _, known := p.named[l.Session]; !known && len(p.named) >= maxNamed {
		p.expire(now)
		if len(p.named) >= maxNamed {
			if recent(p.named[all].Used, now) {
				return nil
			}
			l = line{Session: all, Used: now}
		}
	}
	p.named[l.Session] = l
	if p.size > rewriteSize+2*p.live {
		p.expire(now)
		return p.rewrite()
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if p.torn {
		text = append([]byte{'\n'}, text...)
	}
	err = p.file.Write(text, p.size)
	p.torn = err != nil
	p.size += int64(len(text))
	return err
}

// expire forgets names that are too old to matter. p.mu is held.
func (p *Program) expire(now int64) {
	for id, l := range p.named {
		if now-max(l.Used, l.Wrote) >= Window.Milliseconds() {
			delete(p.named, id)
			delete(p.left, id)
		}
	}
}

// rewrite gives the file one line for each session. p.mu is held.
func (p *Program) rewrite() error {
	var size int64
	err := p.dir.Replace(p.name+namesEnding, false, time.Now(), func(w io.Writer) error {
		for _, l := range p.named {
			text, err := json.Marshal(l)
			if err != nil {
				return err
			}
			n, err := w.Write(append(text, '\n'))
			size += int64(n)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	file, _, err := p.dir.Append(p.name + namesEnding)
	if err != nil {
		return err
	}
	err = p.file.Close()
	p.file, p.size, p.live, p.torn = file, size, size, false
	return err
}

// Noted records that the caller knows that a program of this library wrote the session,
// so that its name need not be kept when the program ends.
func (p *Program) Noted(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.left, session)
}

// End removes the files. When names must be kept, because the program wrote sessions and
// that is not noted, the files stay for the next program, without the lock. Later calls
// of the program's methods do nothing.
func (p *Program) End(keep bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil
	}
	p.ended = true
	p.expire(time.Now().UnixMilli())
	var err error
	if keep = keep || len(p.left) > 0; !keep {
		err = p.remove(p.name + namesEnding)
	}
	err = errors.Join(err, p.release())
	if !keep {
		err = errors.Join(err, p.remove(p.name+lockEnding))
	}
	return errors.Join(err, p.dir.Close())
}

// release closes the file and gives the lock up.
func (p *Program) release() (err error) {
	if p.file != nil {
		err = p.file.Close()
	}
	if p.lock != nil {
		err = errors.Join(err, p.lock.Unlock())
	}
	return err
}

// remove removes a file, which another program may have removed before.
func (p *Program) remove(name string) error {
	if err := p.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
