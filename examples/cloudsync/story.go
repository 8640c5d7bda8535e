package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// garden is the session that the story is about.
const garden = "garden"

// longLine is the length of the long line's content, in bytes.
const longLine = 5_000_000

// story is the state of the story.
type story struct {
	account *account
	dir     string
	out     *screen

	laptop, desk, phone *device
	kept                string // the session that keeps the messages of desk
	stored              int64  // bytes that lie in the cloud
}

// tell runs the story from beginning to end.
func (s *story) tell(ctx context.Context) (err error) {
	if s.laptop, err = s.account.open(ctx, s.dir, "laptop", s.out); err != nil {
		return err
	}
	if s.desk, err = s.account.open(ctx, s.dir, "desk", s.out); err != nil {
		return err
	}
	s.out.printf("Two devices, laptop and desk, with directories of their own in %s\n", s.dir)
	for _, step := range []func(context.Context) error{s.begin, s.fetch, s.part, s.restore} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin writes the session and sends it.
func (s *story) begin(ctx context.Context) error {
	words := make([]byte, longLine/4*3)
	seeded := rand.NewChaCha8([32]byte([]byte("the same bytes at every start...")))
	_, _ = seeded.Read(words) // never fails
	for _, m := range []struct{ role, text string }{
		{"user", "What grows in this garden?"},
		{"assistant", "Let me look at all of it."},
		{"tool", base64.StdEncoding.EncodeToString(words)},
		{"assistant", "Mostly beans."},
	} {
		if err := s.laptop.say(ctx, garden, m.role, m.text); err != nil {
			return err
		}
	}
	c, err := s.laptop.look(ctx, garden)
	if err != nil {
		return err
	}
	s.out.printf("\n1. laptop writes the session %s: %d messages, one of them a line of %s.\n", garden, c.messages, size(longLine))
	sent, err := s.laptop.sync(ctx, 5_000_000)
	if err != nil {
		return err
	}
	s.stored = sent.Bytes
	s.out.printf("   It sends %s in %s, for %.0f request units.\n", size(sent.Bytes), count(sent.Requests, "request"), sent.RequestUnits)
	return nil
}

// fetch brings the session to the other device.
func (s *story) fetch(ctx context.Context) error {
	s.out.print("\n2. desk has nothing yet, and fetches what there is.\n")
	if _, err := s.desk.pull(ctx, s.stored); err != nil {
		return err
	}
	return s.same(ctx, garden, s.desk, s.laptop)
}

// part lets both devices go on without a network.
func (s *story) part(ctx context.Context) error {
	s.out.print("\n3. Both go on without a network: laptop asks about the beans, desk about the fence.\n")
	if err := errors.Join(s.laptop.say(ctx, garden, "user", "Are the beans ripe?"), s.desk.say(ctx, garden, "user", "Is the fence whole?")); err != nil {
		return err
	}
	sent, err := s.laptop.sync(ctx, 0)
	if err != nil {
		return err
	}
	s.out.printf("   laptop comes back first and sends its message: %s in %s.\n", size(sent.Bytes), count(sent.Requests, "request"))
	if sent, err = s.desk.sync(ctx, 0); err != nil {
		return err
	}
	if len(sent.Conflicts) != 1 || sent.Conflicts[0].KeptAs == "" {
		return fmt.Errorf("the two histories of %s were not told apart", garden)
	}
	s.kept = sent.Conflicts[0].KeptAs
	s.out.printf("   desk finds that %s went on elsewhere. It stays as laptop wrote it, and what desk wrote\n", garden)
	s.out.printf("   is kept as the session %s, a fork of it.\n", s.kept)
	if sent, err = s.desk.sync(ctx, s.stored); err != nil {
		return err
	}
	s.out.printf("   desk sends the fork as a session of its own: %s.\n", size(sent.Bytes))
	if _, err := s.laptop.pull(ctx, s.stored); err != nil {
		return err
	}
	s.out.print("   laptop fetches it.\n")
	return errors.Join(s.same(ctx, garden, s.desk, s.laptop), s.same(ctx, s.kept, s.laptop, s.desk))
}

// restore brings everything to a device that is new.
func (s *story) restore(ctx context.Context) (err error) {
	if s.phone, err = s.account.open(ctx, s.dir, "phone", s.out); err != nil {
		return err
	}
	s.out.print("\n4. phone is new, and fetches everything.\n")
	if _, err := s.phone.pull(ctx, 2*s.stored); err != nil {
		return err
	}
	return errors.Join(s.same(ctx, garden, s.phone, s.laptop), s.same(ctx, s.kept, s.phone, s.desk))
}

// same compares a session on two devices.
func (s *story) same(ctx context.Context, session string, one, other *device) error {
	a, err := one.look(ctx, session)
	if err != nil {
		return err
	}
	b, err := other.look(ctx, session)
	if err != nil {
		return err
	}
	if a != b {
		return fmt.Errorf("session %s is not the same on %s and on %s", session, one.name, other.name)
	}
	s.out.printf("   %s on %s: %s, %s, SHA-256 %x…, as on %s.\n", session, one.name, count(a.messages, "message"), size(a.bytes), a.sum[:4], other.name)
	return nil
}

// check compares the lists of the devices.
func (s *story) check(ctx context.Context) error {
	var first []string
	for i, d := range []*device{s.laptop, s.desk, s.phone} {
		ids, err := d.list(ctx)
		if err != nil {
			return err
		}
		if i == 0 {
			first = ids
		}
		if !slices.Equal(ids, first) {
			return fmt.Errorf("%s lists other sessions than laptop, or in another order", d.name)
		}
	}
	s.out.printf("\nAll three devices list the same %d sessions, in the same order. Nothing was lost.\n", len(first))
	return nil
}

// end closes the devices, and tidies an account that stays.
func (s *story) end(ctx context.Context) (err error) {
	ctx = context.WithoutCancel(ctx)
	if s.account.lasting && s.stored > 0 {
		for _, id := range []string{garden, s.kept} {
			if id == "" {
				continue
			}
			if gone := s.laptop.store.Remove(ctx, id); !errors.Is(gone, sessionstore.ErrNotFound) {
				err = errors.Join(err, gone)
			}
		}
		if err == nil {
			s.out.print("The sessions are deleted in the account again; the files stay.\n")
		}
	}
	for _, d := range []*device{s.laptop, s.desk, s.phone} {
		if d != nil {
			err = errors.Join(err, d.store.Close())
		}
	}
	return err
}

// count is a number of things.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
