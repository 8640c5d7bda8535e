package agentstate

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// The key of a sessions directory, in the bookkeeping.
const (
	keyDir  = "approvals"
	keyFile = "key"
	keySize = 32
)

// A key makes the marks of what is approved in a sessions directory. A nil key makes none:
// nothing was approved there yet, or the key was lost.
type key []byte

// mark returns the mark of an approval, "" from a nil key. The length before each part keeps
// two approvals of the same bytes apart.
func (k key) mark(parts ...string) string {
	if k == nil {
		return ""
	}
	sum := hmac.New(sha256.New, k)
	for _, part := range parts {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		sum.Write([]byte(part))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// callMark returns the mark of an approved call.
func (s *State) callMark(k key, a Approval) string { return k.mark("call", s.id, a.ID, a.digest) }

// commandMark returns the mark of an approved command.
func (s *State) commandMark(k key, command string) string { return k.mark("command", s.id, command) }

// approvedHere reports whether a call was approved in this session of this directory.
func (s *State) approvedHere(k key, a Approval) bool {
	mark := s.callMark(k, a)
	return a.Verdict == Approved && mark != "" && hmac.Equal([]byte(mark), []byte(a.mark))
}

// readKey returns the key of the sessions directory, nil where there is none.
func (s *State) readKey() (key, error) {
	secret, err := s.core.ReadBookkeeping(keyDir, keyFile, keySize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(secret) != keySize {
		err = fmt.Errorf("it has %d bytes, not %d", len(secret), keySize)
	}
	if err != nil {
		path := filepath.Join(sessiondir.Bookkeeping, keyDir, keyFile)
		return nil, fmt.Errorf("read the key of approvals: %w: make %s readable, or remove it: then what is approved is asked for anew", err, path)
	}
	return secret, nil
}

// madeKey returns the key of the sessions directory, and makes a durable one where there is
// none.
func (s *State) madeKey(ctx context.Context) (key, error) {
	k, err := s.readKey()
	if err != nil || k != nil {
		return k, err
	}
	if err := s.makeKey(ctx); err != nil {
		return nil, fmt.Errorf("make the key of approvals: %w", err)
	}
	k, err = s.readKey()
	if err == nil && k == nil {
		err = errors.New("the key of approvals was removed by another program: try again")
	}
	return k, err
}

func (s *State) makeKey(ctx context.Context) (err error) {
	dir, err := s.core.Bookkeeping(keyDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	held, err := lock.Acquire(ctx, dir.Root(), keyFile+".lock", lock.Options{})
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, held.Unlock()) }()
	case !errors.Is(err, errors.ErrUnsupported): // without locks, this process alone writes here
		return err
	}
	if k, err := s.readKey(); err != nil || k != nil {
		return err
	}
	secret := make([]byte, keySize)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	err = dir.Replace(keyFile, true, time.Time{}, func(w io.Writer) error {
		_, err := w.Write(secret)
		return err
	})
	if err != nil {
		return err
	}
	return s.core.SyncDirs(filepath.Join(sessiondir.Bookkeeping, keyDir), sessiondir.Bookkeeping, ".")
}
