package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// project is the project of the sessions, on all devices.
const project = "cloudsync"

// device is a directory of sessions with its copy in the cloud.
type device struct {
	name  string
	store *hybrid.Store
	out   *screen
}

// open makes a device with an empty directory below dir. It syncs only when sync or pull is
// called.
func (a *account) open(ctx context.Context, dir, name string, out *screen) (*device, error) {
	dir = filepath.Join(dir, name)
	if _, err := os.Lstat(dir); err == nil {
		return nil, fmt.Errorf("%s is there already; the story begins with devices that have nothing", dir)
	}
	store, err := hybrid.Open(ctx, dir, &hybrid.Options{
		Remote: a.remote, Project: project, User: a.user, Device: name, Manual: true,
	})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return &device{name: name, store: store, out: out}, nil
}

// say appends a message to a session.
func (d *device) say(ctx context.Context, session, role, text string) error {
	m, err := sessionstore.Text(role, text, time.Now())
	if err != nil {
		return err
	}
	return d.store.Append(ctx, session, m)
}

// sync sends the changes, about so many bytes, and receives the changes of others.
func (d *device) sync(ctx context.Context, bytes int64) (hybrid.SyncResult, error) {
	end := d.out.begin(d.name+" sends", bytes)
	defer end()
	return d.store.Sync(ctx)
}

// pull fetches the changes of others, about so many bytes.
func (d *device) pull(ctx context.Context, bytes int64) (hybrid.PullResult, error) {
	end := d.out.begin(d.name+" fetches", bytes)
	defer end()
	return d.store.Pull(ctx)
}

// copied is a session as it lies in a device's directory.
type copied struct {
	messages int
	bytes    int64
	sum      [sha256.Size]byte // of the transcript's bytes
}

func (d *device) look(ctx context.Context, session string) (c copied, err error) {
	loaded, err := d.store.Load(ctx, session)
	if err != nil {
		return c, err
	}
	data, err := os.ReadFile(filepath.Join(d.store.Dir(), session, "transcript.jsonl"))
	if err != nil {
		return c, err
	}
	return copied{messages: len(loaded.Messages), bytes: int64(len(data)), sum: sha256.Sum256(data)}, nil
}

// list returns the sessions of the device, the last changed first.
func (d *device) list(ctx context.Context) ([]string, error) {
	infos, err := d.store.List(ctx, nil)
	ids := make([]string, len(infos))
	for i, info := range infos {
		ids[i] = info.ID
	}
	return ids, err
}
