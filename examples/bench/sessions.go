package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// sessionsAtOnce times G sessions of one Store, to each of which a goroutine appends N
// answers, all together.
func sessionsAtOnce(r *run) error {
	g, n, err := r.sizes()
	if err != nil {
		return err
	}
	d, err := r.durability(2)
	if err != nil {
		return err
	}
	st, err := sessionstore.Open(filepath.Join(r.work, "sessions"), &sessionstore.Options{Durability: d})
	if err != nil {
		return err
	}
	answer, err := sessionstore.Text("assistant", filler, time.Now())
	if err != nil {
		return errors.Join(err, st.Close())
	}
	ctx := context.Background()
	each := func(n int) error { // two appends bring the files into the state between appends
		var wait sync.WaitGroup
		errs := make([]error, g)
		for i := range g {
			wait.Go(func() {
				id := fmt.Sprint(sessionID, i)
				for k := 0; k < n && errs[i] == nil; k++ {
					errs[i] = st.Append(ctx, id, answer)
				}
			})
		}
		wait.Wait()
		return errors.Join(errs...)
	}
	r.n = g * n
	if err = each(3); err == nil {
		err = r.time(func() error { return each(n) })
		r.took[0] /= time.Duration(r.n)
		r.cpu[0] /= time.Duration(r.n)
	}
	return errors.Join(err, st.Close())
}
