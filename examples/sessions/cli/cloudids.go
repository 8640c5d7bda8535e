package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// choose gives each project the ids of its sessions that refs mean, and leaves
// out the projects that have none of them. Without refs a command is about all
// sessions of all projects.
func (a *app) choose(all []remote, refs []string) ([]remote, error) {
	if len(refs) == 0 {
		return all, nil
	}
	found := make([][]string, len(all))
	for _, ref := range refs {
		known := false
		for i, r := range all {
			id, err := r.meant(a, ref)
			if errors.Is(err, sessionstore.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			known = true
			found[i] = append(found[i], id)
		}
		if !known {
			return nil, notInCloudError{ref}
		}
	}
	var chosen []remote
	for i, r := range all {
		if r.ids = found[i]; len(r.ids) > 0 {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}

// meant returns the id of the session of r that ref means: its id, or the
// beginning of one that is here or in the cloud's list. The error Is
// [sessionstore.ErrNotFound] when there is none.
func (r remote) meant(a *app, ref string) (string, error) {
	if ref == "" {
		return "", notFoundError{ref}
	}
	if r.Exists(ref) {
		return ref, nil
	}
	listed, err := r.Remote(a.ctx)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, s := range listed {
		switch {
		case s.SessionID == ref:
			return ref, nil
		case !s.Removed && strings.HasPrefix(s.SessionID, ref):
			ids = append(ids, s.SessionID)
		}
	}
	id, err := r.Find(a.ctx, ref, &sessionstore.ListOptions{All: true})
	switch ambiguous := (*sessionstore.AmbiguousError)(nil); {
	case errors.As(err, &ambiguous):
		ids = append(ids, ambiguous.Matches...)
	case err == nil:
		ids = append(ids, id)
	case !errors.Is(err, sessionstore.ErrNotFound):
		return "", err
	}
	slices.Sort(ids)
	switch ids = slices.Compact(ids); len(ids) {
	case 0:
		_, err := r.Preview(a.ctx, ref) // the list may lack what another device sent just now
		if errors.Is(err, sessionstore.ErrNotFound) {
			return "", notFoundError{ref}
		}
		return ref, nil
	case 1:
		return ids[0], nil
	}
	return "", &sessionstore.AmbiguousError{Prefix: ref, Matches: ids}
}

// notInCloudError tells that there is no such session, neither here nor in the cloud.
type notInCloudError struct{ ref string }

func (e notInCloudError) Error() string {
	return notFoundError(e).Error() + `, here or in the cloud; "sessions remote" lists what is there`
}

func (e notInCloudError) Unwrap() error { return sessionstore.ErrNotFound }

// whole returns an error for a ref that is not the whole id of what it means.
func whole(refs, ids []string) error {
	for i, ref := range refs {
		if ref != ids[i] {
			return fmt.Errorf("%s means %s: what cannot be taken back takes whole ids", screen.Plain(ref), screen.Plain(ids[i]))
		}
	}
	return nil
}
