"""Answers to the exercises of lesson 14: wrong ones with a word of the hint, right ones
of another form."""

CELLS = [0, 1, 2, 3, 5, 6, 7]  # the others train, start workers or draw

CONTEXT = "context = tf.distribute.get_replica_context()"
SUM = 'dw = context.all_reduce("SUM", dw)'
CLIP = "dw, norm = tf.clip_by_global_norm(dw, 2.0)"
DIVIDE = "dw = [part / context.num_replicas_in_sync for part in dw]"
APPLY = "optimizer.apply(dw, model.trainable_variables)"


def clipped(*lines):
    body = [CONTEXT, "loss, dw = part_of_gradient(x, t, model)", *lines, "return loss"]
    head = "def clipped_step(x, t, model, optimizer):\n"
    return head + "".join(f"    {line}\n" for line in body)


def batches(methods):
    head = "def batches_from(start, worker):\n"
    return f"{head}    return tf.data.Dataset.range(1000).{methods}\n"


WRONG = {
    1: [
        # unequal shapes; the answers after it are judged as ever
        ("two workers", clipped("context.all_reduce('SUM', 1 * x)",
                                SUM, CLIP, DIVIDE, APPLY)),
        ("two workers", clipped(SUM, CLIP, APPLY)),
        # each replica goes its own way
        ("two workers", clipped(CLIP, "for w, change in zip(model.trainable_variables,"
                                " dw): w.assign_sub(RATE * change)")),
        ("two workers", clipped(SUM, DIVIDE, CLIP, APPLY)),
        ("two workers", clipped(CLIP, SUM, DIVIDE, APPLY)),
        # clips the sum at what the parts would need
        ("two workers", clipped(SUM, "bound = 2 / context.num_replicas_in_sync",
                                CLIP.replace("2.0", "bound"), APPLY)),
        # always scales to 2
        ("one worker", clipped(SUM, "norm = tf.linalg.global_norm(dw)",
                               "dw = [2 * part / norm for part in dw]", DIVIDE, APPLY)),
        ("one worker", clipped(APPLY)),
        # W and b each on its own
        ("one worker", clipped(SUM, "dw = [tf.clip_by_norm(part, 2.0) for part in dw]",
                               DIVIDE, APPLY)),
        ("one worker", clipped(SUM, CLIP, "dw = [part / 2 for part in dw]", APPLY)),
        ("one worker", clipped(SUM, CLIP, DIVIDE)),
    ],
    2: [
        ("seen in an epoch", batches("shuffle(1000).batch(100).repeat(3).skip(start)")),
        # the batches are shuffled, the images are not
        ("new batches", batches("batch(100).shuffle(9, seed=0).repeat(3).skip(start)")),
        ("new batches", batches("shuffle(1000, 0, reshuffle_each_iteration=False)"
                                ".batch(100).repeat(3).skip(start)")),
        # before the batches, it skips images
        ("start 13", batches("skip(start).shuffle(1000, seed=0).batch(100).repeat(3)")),
        ("start 13", batches("shuffle(1000, seed=0).batch(100).skip(start).repeat(3)")),
        ("start 13", batches("shuffle(1000, 0).batch(100).repeat(3).skip(min(start, 20))")),
        ("first batch", batches("shuffle(100, 0).batch(100).repeat(3).skip(start)")),
        ("start 13", batches("shuffle(1000, seed=start).batch(100).repeat(3)"
                             ".skip(start)")),
        # images of two epochs mixed
        ("seen in an epoch", batches("repeat(3).shuffle(1000, seed=0).batch(100)"
                                    ".skip(start)")),
    ],
}  # fmt: skip

RIGHT = {
    1: [
        clipped(SUM.replace("SUM", "MEAN"),
                "bound = 2 / context.num_replicas_in_sync",
                CLIP.replace("2.0", "bound"), APPLY),
        clipped(SUM, CLIP, 'dw = context.all_reduce("MEAN", dw)', DIVIDE,
                "optimizer.apply_gradients(zip(dw, model.trainable_variables))"),
        clipped("total = context.all_reduce('SUM', dw)",
                "scale = tf.minimum(1.0, 2 / tf.linalg.global_norm(total))",
                "dw = [part * scale for part in dw]", APPLY),
        clipped(SUM, CLIP,
                "first = context.replica_id_in_sync_group == 0",
                "dw = [part if first else 0 * part for part in dw]", APPLY),
    ],
    2: [
        batches("shuffle(1000, seed=0).repeat(3).skip(100 * start).batch(100)"),
        batches("shuffle(1000, seed=0).repeat(3).batch(100).skip(start)"),
    ],
}  # fmt: skip
