"""Answers to the exercises of lesson 14: wrong ones with a word of the hint, right ones
of another form."""

CELLS = [0, 1, 2, 3, 5, 6, 7]  # the others train, start workers or draw

HEAD = "def weighted_step(x, t, model, optimizer):\n"
WEIGHTS = "weights = 1 + 2 * (t[:, 8] + t[:, 9])"
CONTEXT = "context = tf.distribute.get_replica_context()"
TOTAL = 'total = context.all_reduce("SUM", tf.reduce_sum(weights))'
MEAN = TOTAL.replace("SUM", "MEAN")
SUM = 'dw = context.all_reduce("SUM", dw)'
CLIP = "dw, norm = tf.clip_by_global_norm(dw, 2.0)"
DIVIDE = "dw = [part / context.num_replicas_in_sync for part in dw]"
APPLY = "optimizer.apply(dw, model.trainable_variables)"


def weighted(*lines, loss, after=()):
    """A step that makes `lines`, computes `loss`, and changes `dw` by `after`."""
    body = [
        WEIGHTS,
        CONTEXT,
        *lines,
        "with tf.GradientTape() as tape:",
        "    losses = cross_entropy(t, model(x))",
        f"    loss = {loss}",
        "dw = tape.gradient(loss, model.trainable_variables)",
        *after,
        APPLY,
        "return loss",
    ]
    return HEAD + "".join(f"    {line}\n" for line in body)


def clipped(*lines):
    body = [
        "context = tf.distribute.get_replica_context()",
        "loss, dw = part_of_gradient(x, t, model, rows_of_batch(x))",
        *lines,
        "return loss",
    ]
    head = "def clipped_step(x, t, model, optimizer):\n"
    return head + "".join(f"    {line}\n" for line in body)


WRONG = {
    1: [
        # by the number of images
        ("one worker", weighted("rows = rows_of_batch(x)", loss="tf.nn."
         "compute_average_loss(weights * losses, global_batch_size=rows)")),
        # unequal shapes; the answers after it are judged as ever
        ("two workers", weighted(TOTAL.replace("tf.reduce_sum(weights)", "weights"),
         loss="tf.reduce_sum(weights * losses) / tf.reduce_sum(total)")),
        ("two workers", weighted(MEAN, loss="tf.reduce_sum(weights * losses) / total")),
        # the right loss, and a gradient that is summed twice
        ("two workers", weighted(TOTAL, loss="tf.reduce_sum(weights * losses) / total",
                                 after=[SUM])),
        ("one worker", weighted(TOTAL, loss="tf.reduce_sum(losses) / total")),
        ("one worker", HEAD + "    pass\n"),
    ],
    2: [
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
}  # fmt: skip

RIGHT = {
    1: [
        weighted(TOTAL, loss="tf.reduce_sum(losses * weights / total)"),
        weighted(TOTAL, "total = tf.cast(total, tf.int32)",
                 loss="tf.nn.compute_average_loss(losses, weights, total)"),
        weighted(TOTAL, loss="tf.tensordot(weights, losses, 1) / total"),
        weighted(MEAN, loss="tf.reduce_sum(weights * losses) / total"
                 " / context.num_replicas_in_sync"),
        weighted('everywhere = tf.reduce_sum(context.all_gather(weights, axis=0))',
                 loss="tf.reduce_sum(weights * losses) / everywhere"),
    ],
    2: [
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
}  # fmt: skip
