package syncer

import (
	"context"
	"errors"
)

// transcript makes the transcript that of the head.
func (v *work) transcript(ctx context.Context) error {
	a, err := v.fetchMain(ctx)
	if err != nil {
		return err
	}
	if why := v.local.busy(); why != nil {
		return errors.Join(v.wait(why), v.States.Remove(a.file))
	}
	err = errors.Join(v.install(ctx, a), v.States.Remove(a.file))
	if err == nil && v.out.State != Behind {
		v.out.State, v.out.Did, v.out.Pulled = UpToDate, Pulled, true
	}
	return err
}
